package shards_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/fuzz/shards"
)

// The runs until a find are those of all workers: as many as the finder has made, for each.
func TestRounds(t *testing.T) {
	d := around(t, 120, 10)
	d.Hunt.Guidance = fuzz.Aim // no run depends on others
	for _, c := range []struct {
		at, runs int // the number of the run that is looked for, and what is counted
		found    bool
	}{{1, 4, true}, {34, 16, true}, {95, 100, true}, {40, 40, true}, {41, 44, true}, {121, 120, false}} {
		r := shards.Rounds{Division: d, Workers: 4, Share: true}
		runs, found, err := r.Until(t.Context(), func(s fuzz.Run) bool { return s.Number == c.at })
		if err != nil || runs != c.runs || found != c.found {
			t.Errorf("run %d: after %d runs, %t, %v; want %d, %t", c.at, runs, found, err, c.runs, c.found)
		}
	}
}
