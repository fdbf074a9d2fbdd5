package cli

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/sweep/plots"
)

// madeUp returns invented results of a sweep: at every point one run of ten violates, and every
// boundary is at its formula.
func madeUp(s sweep.Sweep) sweep.Results {
	r := sweep.Results{Head: sweep.Head{Sweep: s.Name, Summary: s.Summary, Property: s.Property, Params: s.Params}}
	for _, p := range s.Points {
		m := &sweep.Measured{Violated: 1, Held: 9, Predicted: p.Predicted}
		m.Measurements.Wanted, m.Measurements.Availability = 1, 0.5
		r.Outcomes = append(r.Outcomes, sweep.Outcome{Curve: p.Curve, At: p.At, Point: m})
	}
	for _, b := range s.Boundaries {
		low, high := b.Predicted-b.Within/2, b.Predicted+b.Within/2
		l := &sweep.Located{LastViolated: &low, FirstHolding: &high, Within: b.Within, Formula: sweep.Trial{X: b.Predicted}}
		for name, x := range b.Rules {
			l.Rules = append(l.Rules, sweep.Rule{Name: name, Trial: sweep.Trial{X: x}})
		}
		r.Outcomes = append(r.Outcomes, sweep.Outcome{Curve: b.Curve, At: b.At, Boundary: l})
	}
	return r
}

// Law: whichever points were measured, a picture with predictions states their formula.
func TestPicturesOfSomePointsStateTheirFormula(t *testing.T) {
	stated := 0
	for _, one := range sweeps {
		s, err := one.make()
		if err != nil {
			t.Fatal(err)
		}
		whole := madeUp(s)
		for _, step := range []int{1, 29, 32, 97} { // 31 points make a curve of restart-delay
			some := whole
			some.Outcomes = nil
			for i := 0; i < len(whole.Outcomes); i += step {
				some.Outcomes = append(some.Outcomes, whole.Outcomes[i])
			}
			pictures, err := report.CampaignPictures(some)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range pictures {
				c, ok := p.Chart.(plots.Curves)
				predicted := ok && slices.ContainsFunc(c.Curves, func(c plots.Curve) bool { return len(c.Formula) > 0 })
				if predicted != (c.Formula != "") {
					t.Errorf("%s, every %d. point: predictions %v, and the formula is %q", p.Name, step, predicted, c.Formula)
				}
				if predicted {
					stated++
				}
			}
		}
	}
	if stated < 20 {
		t.Errorf("only %d pictures have predictions", stated)
	}
}

// Law: every sweep has pictures, and every text about a picture refers to an existing one.
func TestEverySweepHasPictures(t *testing.T) {
	known := map[string]bool{}
	for _, one := range sweeps {
		known[one.name] = true
		s, err := one.make()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		names, err := drawPictures(dir, madeUp(s), io.Discard)
		if err != nil || len(names) == 0 {
			t.Errorf("%s: %d pictures (%v)", one.name, len(names), err)
		}
		for _, name := range names {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
	}
	for _, name := range report.CaptionedPictures() {
		if !known[name] {
			t.Errorf("something is said of %s, and there is no such sweep", name)
		}
	}
}
