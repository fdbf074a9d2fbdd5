package sweep

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Outcome is what a campaign has found at one unit of its sweep: at a point, or else of a
// boundary. It is a line of the campaign's file.
type Outcome struct {
	Unit  int    `json:"unit"` // its number, see [Sweep.Units]
	Curve string `json:"curve"`

	// At is the value of each parameter; of a boundary, of all but the first.
	At []float64 `json:"at"`

	// Runs is how many runs were asked for at the point, or wherever the boundary was
	// looked for, and First the seed of the first of them. The others are the numbers
	// after it.
	Runs  int    `json:"runs"`
	First uint64 `json:"first_seed"`

	Point    *Measured `json:"point,omitempty"`
	Boundary *Located  `json:"boundary,omitempty"`
}

// LastSeed returns the seed of the last run.
func (o Outcome) LastSeed() uint64 { return o.First + uint64(o.Runs) - 1 }

// validate names what cannot be in a campaign.
func (o Outcome) validate(h Head) error {
	switch p := o.Point; {
	case (p == nil) == (o.Boundary == nil):
		return errors.New("want a point or a boundary")
	case o.Runs != o.wanted(h):
		return fmt.Errorf("%d runs, where %d were asked for", o.Runs, o.wanted(h))
	case p != nil && (p.Violated < 0 || p.Held < 0 || p.Undecided < 0 || p.Violated+p.Held+p.Undecided > o.Runs):
		return fmt.Errorf("%d violated, %d held and %d undecided in %s", p.Violated, p.Held, p.Undecided, textfmt.Count(o.Runs, "run"))
	}
	return nil
}

// wanted is how many runs it should have.
func (o Outcome) wanted(h Head) int {
	if o.Point == nil {
		return h.Runs
	}
	return Runs(h.Runs, o.Point.Predicted)
}

// Measured is what the runs of a point amount to.
type Measured struct {
	Scenario string `json:"scenario"` // its name

	// Violated and Held are the numbers of runs in which the property was violated, and
	// in which it held, Undecided of those that left it open, of which Slipped did because
	// the machine was too slow. In the others there was nothing to judge.
	Violated  int `json:"violated"`
	Held      int `json:"held"`
	Undecided int `json:"undecided"`
	Slipped   int `json:"slipped,omitempty"`

	Violations int      `json:"violations"` // in all runs; one may show several
	Witness    *Witness `json:"witness,omitempty"`

	// Predicted is the formula's probability that a run violates the property; nil: there
	// is none.
	Predicted *float64 `json:"predicted,omitempty"`

	// Measurements are those of all runs, see [runner.Aggregate].
	Measurements checker.Measurements `json:"measurements"`
}

// Witness is a run that violated the property: the first.
type Witness struct {
	Seed  uint64 `json:"seed"`
	Trace string `json:"trace,omitempty"` // the hash of its trace, where a repetition has the same
	Story string `json:"story,omitempty"` // at a point
}

// measured makes what is kept of a tally.
func measured(t runner.Tally, p checker.Property) Measured {
	m := Measured{
		Scenario:     t.Scenario.Name,
		Violated:     t.Seen[p][checker.Violated],
		Held:         t.Seen[p][checker.Holds],
		Undecided:    t.Seen[p][checker.Unknown],
		Slipped:      t.Slipped,
		Violations:   t.Violations[p],
		Witness:      witness(t, p),
		Measurements: t.Measured.All(),
	}
	return m
}

func witness(t runner.Tally, p checker.Property) *Witness {
	r, ok := t.First[p]
	if !ok {
		return nil
	}
	w := &Witness{Seed: r.Seed, Story: r.Report.Finding(p).Story()}
	if r.TraceHash != 0 {
		w.Trace = hexadecimal(r.TraceHash)
	}
	return w
}

// Rate is the share of runs that violated the property, of those in which that was
// decided.
func (m Measured) Rate() runner.Rate { return runner.Rate{K: m.Violated, N: m.Violated + m.Held} }

// Interval returns the 95 % interval of the probability, see [runner.Rate.Wilson].
func (m Measured) Interval() (lo, hi float64) { return m.Rate().Wilson() }

// HalfWidth returns half the width of the interval.
func (m Measured) HalfWidth() float64 {
	lo, hi := m.Interval()
	return (hi - lo) / 2
}

// Inside reports whether the interval contains what a formula says; known: there is one,
// and some run was decided.
func (m Measured) Inside() (inside, known bool) {
	if m.Predicted == nil || m.Rate().N == 0 {
		return false, false
	}
	lo, hi := m.Interval()
	return lo <= *m.Predicted && *m.Predicted <= hi, true
}

// Located is what was found of a boundary.
type Located struct {
	// LastViolated is the largest x tried below the boundary, and FirstHolding the
	// smallest above it. Without the one the property holds at the low end of the search,
	// without the other it is violated at its high end; or the search was left open.
	LastViolated *float64 `json:"last_violated,omitempty"`
	FirstHolding *float64 `json:"first_holding,omitempty"`
	Within       float64  `json:"within"`

	// Search is where the property was tried, in that order. A last one that is unknown
	// has left the search open.
	Search []Trial `json:"search"`

	// Formula is the property at the x that a formula says, Rules at those that rules of
	// thumb say, in the order of their names.
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

// Open reports whether something could not be decided.
func (l Located) Open() bool {
	for _, t := range l.trials() {
		if t.Verdict != checker.Violated && t.Verdict != checker.Holds {
			return true
		}
	}
	return false
}

// trials are all of them.
func (l Located) trials() []Trial {
	all := append(l.Search[:len(l.Search):len(l.Search)], l.Formula)
	for _, r := range l.Rules {
		all = append(all, r.Trial)
	}
	return all
}

// The files of the results in the directory of a campaign.
const (
	PointsFile     = "points.csv"     // a row a point
	BoundariesFile = "boundaries.csv" // a row a boundary
	ResultsFile    = "points.json"    // all of it
	SummaryFile    = "summary.md"     // for people
)

var resultFiles = []string{PointsFile, BoundariesFile, ResultsFile, SummaryFile}

// Results is a campaign and what it has found, in the order of the units.
type Results struct {
	Head
	Outcomes []Outcome
}

// Complete reports whether all is there that the campaign, or this shard, is about.
func (r Results) Complete() bool { return len(r.Outcomes) == r.Units() }

// Points returns the outcomes at points.
func (r Results) Points() []Outcome {
	return r.those(func(o Outcome) bool { return o.Point != nil })
}

// Boundaries returns the outcomes of boundaries.
func (r Results) Boundaries() []Outcome {
	return r.those(func(o Outcome) bool { return o.Boundary != nil })
}

func (r Results) those(are func(Outcome) bool) (some []Outcome) {
	for _, o := range r.Outcomes {
		if are(o) {
			some = append(some, o)
		}
	}
	return some
}

// Fit is how the measured points compare with their formula, and how exact they are.
type Fit struct {
	Points    int     // that were measured
	Compared  int     // of which a formula says something
	Inside    int     // of which the interval contains that
	Between   int     // of those compared: the formula says neither 0 nor 1
	Hit       int     // of these: the interval contains it
	HalfWidth float64 // of the widest interval
}

// Fit compares the points with their formula.
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
		f.Inside += one(inside)
		f.Between += one(between)
		f.Hit += one(between && inside)
	}
	return f
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// Good reports whether the formula is inside at least 90 % of the intervals, of few of
// them in all but one: of all, and of those where it says neither 0 nor 1. Of a formula
// that is right 95 % of the latter are expected.
func (f Fit) Good() bool {
	return few(f.Compared-f.Inside, f.Compared) && few(f.Between-f.Hit, f.Between)
}

// few reports whether no more than a tenth was missed, rounded up.
func few(missed, of int) bool { return missed <= (of+9)/10 }

// Save writes the results into their files, all but the summary. Each is there whole, or
// as it was.
func (r Results) Save(dir string) error {
	tables := []struct {
		name string
		rows [][]string
	}{{PointsFile, r.pointRows()}, {BoundariesFile, r.boundaryRows()}}
	for _, t := range tables {
		if len(t.rows) == 1 { // the head alone
			continue
		}
		text, err := separated(t.rows)
		if err == nil {
			err = files.WriteWhole(filepath.Join(dir, t.name), text)
		}
		if err != nil {
			return err
		}
	}
	var b bytes.Buffer
	if err := r.Print(&b); err != nil {
		return err
	}
	return files.WriteWhole(filepath.Join(dir, ResultsFile), b.Bytes())
}

// SaveSummary writes the summary.
func SaveSummary(dir string, text []byte) error {
	return files.WriteWhole(filepath.Join(dir, SummaryFile), text)
}
