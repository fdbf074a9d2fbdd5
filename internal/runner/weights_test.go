package runner

import (
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Law: the weights of a replay string are read as they were written, and nothing else is read.
func TestWeightCode(t *testing.T) {
	names, _ := nemesis.Kinds()
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.MapOfN(rapid.SampledFrom(names), rapid.IntRange(1, nemesis.MaxWeight), 1, -1).Draw(t, "weights")
		code := weightCode(w)
		if got, err := parseWeights(code); err != nil || !maps.Equal(got, w) {
			t.Fatalf("%s: got %v, %v, want %v", code, got, err, w)
		}
		for _, text := range []string{"7", "01000", "990001", "00", "0x0001", code[:endOfHash], code[:endOfHash] + ".", code[:endOfHash] + "-1"} {
			if _, err := parseWeights(text); err == nil || !strings.Contains(err.Error(), "not the weights") {
				t.Errorf("%s: got %v", text, err)
			}
		}
	})
}
