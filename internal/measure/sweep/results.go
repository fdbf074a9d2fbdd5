package sweep

import (
	"fmt"
	"math"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// Outcome is the result of one unit of a sweep: a point or a boundary. It is a line of the
// measurement's file.
type Outcome struct {
	Unit  int    `json:"unit"` // its number, see [Sweep.Units]
	Curve string `json:"curve"`

	// At is the value of each parameter; for a boundary, of all but the first.
	At []float64 `json:"at"`

	// Runs is how many runs were planned at the point, or at each x of the boundary. First is
	// the seed of the first run, and the others follow.
	Runs  int    `json:"runs"`
	First uint64 `json:"first_seed"`

	Point    *PointResult `json:"point,omitempty"`
	Boundary *Located     `json:"boundary,omitempty"`
}

// LastSeed returns the seed of the last run.
func (o Outcome) LastSeed() uint64 { return o.First + uint64(o.Runs) - 1 }

// PointResult is the result of the runs of a point.
type PointResult struct {
	Scenario string `json:"scenario"` // its name

	// Violated, Held and Undecided are the numbers of runs with these verdicts. Slipped counts
	// the undecided runs in which the machine was too slow. The other runs did not test the
	// property.
	Violated  int `json:"violated"`
	Held      int `json:"held"`
	Undecided int `json:"undecided"`
	Slipped   int `json:"slipped,omitempty"`

	Violations int      `json:"violations"` // in all runs, each of which may have several
	Witness    *Witness `json:"witness,omitempty"`

	// Predicted is the probability of a violation according to a formula; nil: there is none.
	Predicted *float64 `json:"predicted,omitempty"`

	// Measurements aggregates all runs: see [runner.Aggregate].
	Measurements checker.Measurements `json:"measurements,omitzero"`
}

// Witness is the first run that violated the property.
type Witness struct {
	Seed  uint64 `json:"seed"`
	Trace string `json:"trace,omitempty"` // hash of its trace, if runs are repeatable
	Story string `json:"story,omitempty"` // only at a point
}

func witness(t runner.Tally, p checker.Property) *Witness {
	r, ok := t.First[p]
	if !ok {
		return nil
	}
	w := &Witness{Seed: r.Seed, Story: r.Report.Finding(p).Story()}
	if r.TraceHash != 0 {
		w.Trace = fmt.Sprintf("%016x", r.TraceHash)
	}
	return w
}

// Rate returns the share of runs that violated the property among those with a verdict.
func (m PointResult) Rate() runner.Rate { return runner.Rate{K: m.Violated, N: m.Violated + m.Held} }

// Interval returns the 95 % interval of the probability: see [runner.Rate.Wilson].
func (m PointResult) Interval() (lo, hi float64) { return m.Rate().Wilson() }

// HalfWidth returns half the width of the interval.
func (m PointResult) HalfWidth() float64 {
	lo, hi := m.Interval()
	return (hi - lo) / 2
}

// Inside reports whether the interval contains the prediction. It is known if there is a
// prediction and a decided run.
func (m PointResult) Inside() (inside, known bool) {
	if m.Predicted == nil || m.Rate().N == 0 {
		return false, false
	}
	lo, hi := m.Interval()
	return lo <= *m.Predicted && *m.Predicted <= hi, true
}

// unlikely is the probability, according to a formula, below which a measured count contradicts it.
const unlikely = 1e-4

// refutes reports whether the count, or one farther from the prediction, which there must be, has a
// probability below unlikely according to the prediction. Chernoff's bound, which is never too low,
// stands for the probability. A single run refutes a prediction of 0 or 1.
func (m PointResult) refutes() bool {
	exponent := func(k int, p float64) float64 {
		if k == 0 {
			return 0
		}
		return float64(k) * math.Log(float64(k)/(float64(m.Rate().N)*p))
	}
	return math.Exp(-exponent(m.Violated, *m.Predicted)-exponent(m.Held, 1-*m.Predicted)) < unlikely
}

// Located is the result for a boundary.
type Located struct {
	// LastViolated is the largest x at which the property was violated, and FirstHolding the
	// smallest at which it held. Without LastViolated it holds at the low end, without
	// FirstHolding it is violated at the high end, or the search was left open.
	LastViolated *float64 `json:"last_violated,omitempty"`
	FirstHolding *float64 `json:"first_holding,omitempty"`
	Within       float64  `json:"within"`

	// Search lists the x that were tried, in order. If the last verdict is unknown, it ended
	// the search.
	Search []Trial `json:"search"`

	// Formula is the verdict at the x of the formula, Rules those at the x of rules of thumb,
	// sorted by name.
	Formula Trial  `json:"formula"`
	Rules   []Rule `json:"rules,omitempty"`
}

// Trial is the property at one x. It is violated where some run violates it, and no more
// runs were made after that; it holds where it did in some run, and no run left it open.
type Trial struct {
	X       float64         `json:"x"`
	Verdict checker.Verdict `json:"verdict"`
	Witness *Witness        `json:"witness,omitempty"`
}

// Rule is a rule of thumb. It suffices where the property holds.
type Rule struct {
	Name string `json:"name"`
	Trial
}

// Bracketed reports whether both sides of the boundary were found, as close together as
// was asked for.
func (l Located) Bracketed() bool {
	return l.LastViolated != nil && l.FirstHolding != nil && *l.FirstHolding-*l.LastViolated <= l.Within
}

// Met reports whether the boundary is where the formula has it: neither side of it is
// farther from there than Within.
func (l Located) Met() bool {
	p := l.Formula.X
	return l.Bracketed() && math.Abs(*l.LastViolated-p) <= l.Within && math.Abs(*l.FirstHolding-p) <= l.Within
}

// Open reports whether some verdict is unknown.
func (l Located) Open() bool {
	for _, t := range l.trials() {
		if t.Verdict != checker.Violated && t.Verdict != checker.Holds {
			return true
		}
	}
	return false
}

// trials returns all trials.
func (l Located) trials() []Trial {
	all := append(l.Search[:len(l.Search):len(l.Search)], l.Formula)
	for _, r := range l.Rules {
		all = append(all, r.Trial)
	}
	return all
}

// The files of the results in the directory of a measurement.
const (
	PointsFile     = "points.csv"     // one row per point
	BoundariesFile = "boundaries.csv" // one row per boundary
	SummaryFile    = "summary.md"     // for people
)

var resultFiles = []string{PointsFile, BoundariesFile, SummaryFile}

// Results are the outcomes of a measurement, in the order of the units.
type Results struct {
	Head
	Outcomes []Outcome
}

// Complete reports whether all outcomes of the measurement are there.
func (r Results) Complete() bool { return len(r.Outcomes) == r.Units() }

// Points returns the outcomes at points.
func (r Results) Points() []Outcome {
	return r.where(func(o Outcome) bool { return o.Point != nil })
}

// Boundaries returns the outcomes of boundaries.
func (r Results) Boundaries() []Outcome {
	return r.where(func(o Outcome) bool { return o.Boundary != nil })
}

func (r Results) where(keep func(Outcome) bool) (some []Outcome) {
	for _, o := range r.Outcomes {
		if keep(o) {
			some = append(some, o)
		}
	}
	return some
}

// Fit compares the measured points with their predictions.
type Fit struct {
	Points    int     `json:"-"`                 // measured points
	Compared  int     `json:"compared"`          // points with a prediction
	Inside    int     `json:"inside"`            // whose interval contains it
	TooLow    int     `json:"-"`                 // predictions below the interval; the others are above it
	Between   int     `json:"between"`           // predictions other than 0 and 1
	Hit       int     `json:"hit"`               // of these, the interval contains it
	Refuted   int     `json:"refuted"`           // predictions by which the count is all but impossible
	HalfWidth float64 `json:"widest_half_width"` // of the widest interval
}

// Fit compares the points with their predictions.
func (r Results) Fit() Fit {
	var f Fit
	for _, o := range r.Points() {
		f.Points++
		f.HalfWidth = max(f.HalfWidth, o.Point.HalfWidth())
		inside, known := o.Point.Inside()
		if !known {
			continue
		}
		between := 0 < *o.Point.Predicted && *o.Point.Predicted < 1
		f.Compared++
		low, _ := o.Point.Interval()
		tooLow := !inside && *o.Point.Predicted < low
		if inside {
			f.Inside++
		}
		if tooLow {
			f.TooLow++
		}
		if o.Point.refutes() && (tooLow || !r.onServers()) {
			f.Refuted++
		}
		if between {
			f.Between++
		}
		if between && inside {
			f.Hit++
		}
	}
	return f
}

// onServers reports whether runs were made on real servers, where a run may hold because nothing came in time.
func (r Results) onServers() bool { return r.Backend == "process" || r.Backend == "container" }

// Good reports whether the intervals miss at most a tenth of the predictions (rounded up),
// among all and among those other than 0 and 1, and no point refutes its own. With a correct
// formula 5 % of those other than 0 and 1 are missed.
func (f Fit) Good() bool {
	return f.Refuted == 0 && fewMissed(f.Compared-f.Inside, f.Compared) && fewMissed(f.Between-f.Hit, f.Between)
}

// fewMissed reports whether no more than a tenth was missed, rounded up.
func fewMissed(missed, of int) bool { return missed <= (of+9)/10 }

// Curve is the outcomes of one curve, in the order of their units.
type Curve struct {
	Name     string
	Outcomes []Outcome
}

// Curves groups outcomes by their curves, in the order in which these begin.
func Curves(all []Outcome) (list []Curve) {
	for _, o := range all {
		i := slices.IndexFunc(list, func(c Curve) bool { return c.Name == o.Curve })
		if i < 0 {
			i, list = len(list), append(list, Curve{Name: o.Curve})
		}
		list[i].Outcomes = append(list[i].Outcomes, o)
	}
	return list
}
