package checker

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestQuantilesAreTight: a quantile is at least the true one, and at most 1/32
// above it.
func TestQuantilesAreTight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 1<<50), 1, 50).Draw(t, "durations")
		perMille := rapid.IntRange(1, 1000).Draw(t, "quantile")
		var g histogram
		for _, v := range values {
			g.add(time.Duration(v))
		}
		slices.Sort(values)
		want := time.Duration(values[(len(values)*perMille+999)/1000-1])
		if got := g.quantile(perMille); got < want || got > want+want/perPower {
			t.Fatalf("quantile %d of %v is %d, want %d", perMille, values, got, want)
		}
	})
}
