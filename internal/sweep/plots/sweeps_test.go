package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/sweep"
)

// at100 is an outcome at a point with k violations in 100 runs.
func at100(curve string, k int, predicted *float64, at ...float64) sweep.Outcome {
	m := &sweep.Measured{Violated: k, Held: 100 - k, Predicted: predicted}
	return sweep.Outcome{Curve: curve, At: at, Point: m}
}

func results(params []sweep.Param, outcomes ...sweep.Outcome) sweep.Results {
	return sweep.Results{Head: sweep.Head{Sweep: "it", Summary: "what it shows", Params: params}, Outcomes: outcomes}
}

var delayAndNodes = []sweep.Param{{Name: "restart_delay", Unit: "TTL"}, {Name: "crashing_nodes"}}

// Law: curves are grouped into pictures by their names, from left to right, with their
// formula.
func TestOfCurves(t *testing.T) {
	var outcomes []sweep.Outcome
	for _, c := range []string{"plain, no persistence", "plain, aof-always", "extended, no persistence", "slow", "plain, all nodes, 1 crash", "plain, all nodes, 2 crash"} {
		for _, x := range []float64{1, 0, 0.5} {
			var predicted *float64
			if c != "extended, no persistence" && c != "slow" {
				predicted = new(1 - x)
			}
			outcomes = append(outcomes, at100(c, int(100*(1-x)), predicted, x, 1))
		}
	}
	outcomes = append(outcomes, at100("plain, aof-always", 0, nil, 2, 1))
	outcomes[len(outcomes)-1].Point.Held = 0 // nothing was decided there
	pictures, err := Of(results(delayAndNodes, outcomes...), Say{Marks: []Mark{{1, "TTL"}}, Formula: func(curve string) string { return strings.ToUpper(strings.Split(curve, ",")[0]) }})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"it-plain: no persistence; AOF always synced",
		"it: extended, no persistence; slow",
		"it-plain-all-nodes-n-crash: one node crashes; two nodes crash",
	}
	var got []string
	for _, p := range pictures {
		c := p.Chart.(Curves)
		var names []string
		for _, one := range c.Curves {
			names = append(names, one.Name)
			ordered := slices.IsSortedFunc(one.Points, func(a, b Point) int { return int(math.Copysign(1, a.X-b.X)) })
			if len(one.Points) != 3 || !ordered {
				t.Errorf("%s: the points are %v", one.Name, one.Points)
			}
			if (len(one.Formula) == 0) != (p.Name == "it") || (c.Formula == "PLAIN") != (p.Name != "it") {
				t.Errorf("%s: the formula is %v", one.Name, one.Formula)
			}
		}
		if c.X.label() != "restart delay [TTL]" || c.Y.To != 1 || len(c.Marks) != 1 || !strings.HasPrefix(c.Title, "What it shows") {
			t.Errorf("%s: %q, %q from 0 to %v, %v", c.Title, c.X.label(), c.Y.label(), c.Y.To, c.Marks)
		}
		got = append(got, p.Name+": "+strings.Join(names, "; "))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if p := pictures[0].Chart.(Curves).Curves[0].Points[1]; p.Y != 0.5 || !(p.Lo > 0.4 && p.Lo < 0.5 && p.Hi > 0.5 && p.Hi < 0.6) {
		t.Errorf("50 of 100 runs are %+v", p)
	}
}

// Law: a curve along which two parameters change becomes a map. A cell that was not measured
// or decided has no value.
func TestOfMaps(t *testing.T) {
	outcomes := []sweep.Outcome{at100("nodes", 40, nil, 2, 0.1), at100("nodes", 100, nil, 1, 0), at100("nodes", 0, nil, 1, 0.1)}
	outcomes[1].Point.Violated = 0
	outcomes[1].Point.Held = 0
	say := Say{LineName: "covers", Line: func(curve string) func(float64) float64 {
		if curve != "nodes" {
			return nil
		}
		return func(x float64) float64 { return x / 10 }
	}}
	pictures, err := Of(results(delayAndNodes, outcomes...), say)
	if err != nil || len(pictures) != 1 || pictures[0].Name != "it" {
		t.Fatalf("%v (%v)", pictures, err)
	}
	h := pictures[0].Chart.(HeatMap)
	if got := fmt.Sprint(h.Xs, h.Ys, h.Values); got != "[1 2] [0 0.1] [[NaN NaN] [0 0.4]]" {
		t.Error(got)
	}
	if first, last := h.Line[0], h.Line[len(h.Line)-1]; first != (XY{1, 0.1}) || last != (XY{2, 0.2}) {
		t.Errorf("the line goes from %v to %v", first, last)
	}
	if err := Save(t.TempDir(), "map", h, []Format{SVG}, Screen, made); err != nil {
		t.Error(err)
	}
	say.Show = []Quantity{Share, Share}
	if pictures, err = Of(results(delayAndNodes, append(outcomes, at100("clients", 1, nil, 1, 1), at100("clients", 1, nil, 1, 2))...), say); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range pictures {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, " "); got != "it-nodes it-clients it-nodes-2 it-clients-2" {
		t.Errorf("the names are %s", got)
	}
}

// located is a boundary between lo and hi.
func located(curve string, lo, hi, predicted float64, rules []sweep.Rule, at ...float64) sweep.Outcome {
	l := &sweep.Located{LastViolated: &lo, FirstHolding: &hi, Rules: rules}
	l.Formula.X = predicted
	return sweep.Outcome{Curve: curve, At: at, Boundary: l}
}

// Law: boundaries are shown against their formula, and over the second parameter. A rule that
// is the same for all curves is a line there.
func TestOfBoundaries(t *testing.T) {
	params := []sweep.Param{{Name: "delay", Unit: "TTL"}, {Name: "slow"}, {Name: "fast"}, {Name: "factor"}}
	var outcomes []sweep.Outcome
	for _, factor := range []float64{0.01, 0.05} {
		for _, slow := range []float64{0.1, 0} {
			for _, fast := range []float64{0, 0.1} {
				x := (1 + fast) / (1 - slow)
				rules := []sweep.Rule{{Name: "T", Trial: sweep.Trial{X: 1 + factor}}, {Name: "F", Trial: sweep.Trial{X: 1 + fast}}}
				outcomes = append(outcomes, located("one", x-0.002, x, x-0.001, rules, slow, fast, factor))
			}
		}
	}
	open := located("one", 0, 0, 1, nil, 0, 0, 0)
	open.Boundary.FirstHolding = nil
	pictures, err := Of(results(params, append(outcomes, open)...), Say{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"it: measured, one 8/0, rule F 8/0, rule T 8/0, as the formula says; below it a rule fails 0/2",
		"it-one-factor-0-01: fast 0 2/2, fast 0.1 2/2, rule T 0/2",
		"it-one-factor-0-05: fast 0 2/2, fast 0.1 2/2, rule T 0/2",
	}
	for i, p := range pictures {
		var parts []string
		for _, c := range p.Chart.(Curves).Curves {
			parts = append(parts, fmt.Sprintf("%s %d/%d", c.Name, len(c.Points), len(c.Formula)))
		}
		if got := p.Name + ": " + strings.Join(parts, ", "); i >= len(want) || got != want[i] {
			t.Errorf("%s\nwant one of %q", got, want)
		}
		if err := Save(t.TempDir(), p.Name, p.Chart, []Format{SVG}, Screen, made); err != nil {
			t.Error(err)
		}
	}
	if len(pictures) != len(want) {
		t.Errorf("%d pictures", len(pictures))
	}
	both, err := Of(results(params, append(outcomes, at100("a", 1, nil, 1, 1, 1, 1))...), Say{})
	if err != nil || len(both) != 4 || both[0].Name != "it" || both[1].Name != "it-boundaries" {
		t.Errorf("with a point: %v (%v)", both, err)
	}
}

// Results that cannot be drawn are an error, and empty results have no pictures.
func TestOfRefuses(t *testing.T) {
	three := append(slices.Clone(delayAndNodes), sweep.Param{Name: "third"})
	for name, of := range map[string]struct {
		r    sweep.Results
		want string
	}{
		"no parameters":        {results(nil), "no parameters"},
		"a value is missing":   {results(delayAndNodes, at100("a", 1, nil, 1)), `curve "a": a point has 1 values for 2 parameters`},
		"three change":         {results(three, at100("a", 1, nil, 1, 1, 1), at100("a", 1, nil, 1, 1, 2)), "third changes"},
		"twice at a place":     {results(delayAndNodes, at100("a", 1, nil, 1, 1), at100("a", 1, nil, 1, 2), at100("a", 1, nil, 1, 1)), "two points at [1 1]"},
		"a boundary's missing": {results(delayAndNodes, located("a", 1, 2, 1, nil, 1, 2)), `boundary of "a" has 2 values for 1 parameters`},
	} {
		if _, err := Of(of.r, Say{}); err == nil || !strings.Contains(err.Error(), of.want) {
			t.Errorf("%s: %v; want %q", name, err, of.want)
		}
	}
	if pictures, err := Of(results(delayAndNodes), Say{}); err != nil || len(pictures) != 0 {
		t.Errorf("%v, %v", pictures, err)
	}
}
