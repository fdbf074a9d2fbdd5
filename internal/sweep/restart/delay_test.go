package restart_test

import (
	"flag"
	"testing"

	"github.com/lockstorm/lockstorm/internal/sweep/restart"
	"github.com/lockstorm/lockstorm/internal/sweeptest"
)

var (
	perPoint = flag.Int("runs", 40, "runs of each point of a sweep; at 10,000 intervals are ±0.01 at most, and it takes an hour")
	thinning = flag.Int("every", 11, "one of how many points is measured; 1: all are")
)

// What is measured is what the formulas say: at nine points of ten, or more, the Wilson
// interval contains what is predicted. No curve is that of another formula.
func TestDelaysFollowTheirFormulas(t *testing.T) {
	t.Parallel()
	s := restart.Delay()
	type score struct{ inside, of int }
	curves, all := map[string]score{}, score{}
	for i, p := range s.Points {
		if p.Predicted == nil || i%*thinning != 0 {
			continue
		}
		r := sweeptest.Measure(t, s, i, *perPoint).Rate(s.Property)
		lo, hi := r.Wilson()
		c := curves[p.Curve]
		c.of, all.of = c.of+1, all.of+1
		if lo <= *p.Predicted && *p.Predicted <= hi {
			c.inside, all.inside = c.inside+1, all.inside+1
		} else {
			t.Logf("%s at %v: %v violated, %.4f to %.4f, predicted %.4f", p.Curve, p.At, r, lo, hi, *p.Predicted)
		}
		curves[p.Curve] = c
	}
	for name, c := range curves {
		t.Logf("%-40s %d of %d", name, c.inside, c.of)
		if 2*c.inside < c.of {
			t.Errorf("%s: only %d of %d intervals contain what is predicted", name, c.inside, c.of)
		}
	}
	if all.of < 30 || 10*all.inside < 9*all.of {
		t.Errorf("%d of %d intervals contain what is predicted, want nine of ten and at least 30", all.inside, all.of)
	}
}

// Who extends and reaches all nodes is told of the loss if it asks in the time that the
// rival needs: no more of the runs are violated than the formula says of who is not told,
// and at least as many as are left without these.
func TestTheNodesTell(t *testing.T) {
	t.Parallel()
	const told = 0.02 // of the time between two extensions
	s := restart.Delay()
	unhelped := map[float64]float64{}
	for _, p := range s.Points {
		if p.Curve == "extended, no persistence" {
			unhelped[p.At[0]] = *p.Predicted
		}
	}
	seen := 0
	for i, p := range s.Points {
		if p.Predicted != nil || i%*thinning != 0 {
			continue
		}
		r := sweeptest.Measure(t, s, i, *perPoint).Rate(s.Property)
		lo, hi := r.Wilson()
		if most := unhelped[p.At[0]]; lo > most || hi < most-told {
			t.Errorf("%s at %v: %v violated, %.4f of those who are not told", p.Curve, p.At, r, most)
		}
		seen += r.K
	}
	if seen == 0 {
		t.Error("no violation at all where nothing is predicted: want some while nodes are back soon")
	}
}
