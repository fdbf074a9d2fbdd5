package sweep

import (
	"bytes"
	"encoding/csv"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// Head returns the parameter's column head, as in "restart_delay [TTL]".
func (p Param) Head() string { return withUnit(p.Name, p.Unit) }

func withUnit(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + " [" + unit + "]"
}

func heads(params []Param) (list []string) {
	for _, p := range params {
		list = append(list, p.Head())
	}
	return list
}

// programHead is the column of the program that made the results; empty if it has no version.
const programHead = "lockstorm"

// pointRows returns the table of all points with its head. Unknown values are empty.
func (r Results) pointRows() [][]string {
	head := slices.Concat([]string{"unit", "curve"}, heads(r.Params), []string{
		"scenario", "runs", "first_seed", "last_seed", "violated_runs", "held_runs", "undecided_runs", "slipped_runs",
		"violations", "violated_share", "wilson95_low", "wilson95_high", "predicted", "predicted_inside", "witness_seed",
	}, figureHeads(), []string{programHead})
	rows, program := [][]string{head}, runner.Program(r.Versions)
	for _, o := range r.Points() {
		p := o.Point
		lo, hi := p.Interval()
		rows = append(rows, slices.Concat([]string{strconv.Itoa(o.Unit), o.Curve}, numbers(o.At...), []string{
			p.Scenario, strconv.Itoa(o.Runs), seed(o.First), seed(o.LastSeed()),
			strconv.Itoa(p.Violated), strconv.Itoa(p.Held), strconv.Itoa(p.Undecided), strconv.Itoa(p.Slipped),
			strconv.Itoa(p.Violations), number(p.Rate().Share()), number(lo), number(hi), optional(p.Predicted), inside(p), p.Witness.seed(),
		}, figures(p.Measurements), []string{program}))
	}
	return rows
}

func inside(m *PointResult) string {
	if in, known := m.Inside(); known {
		return strconv.FormatBool(in)
	}
	return ""
}

// boundaryRows returns the table of all boundaries with its head. Unknown values are empty.
func (r Results) boundaryRows() [][]string {
	x := r.Params[0]
	at := func(name string) string { return withUnit(name, x.Unit) }
	head := slices.Concat([]string{"unit", "curve", "parameter"}, heads(r.Params[1:]), []string{
		"runs", "first_seed", "last_seed",
		at("last_violated"), at("first_holding"), at("within"), at("predicted"), "predicted_met", "predicted_verdict", "open",
	})
	rules := r.Rules()
	for _, name := range rules {
		head = append(head, at(name), name+" verdict")
	}
	head = append(head, programHead)
	rows, program := [][]string{head}, runner.Program(r.Versions)
	for _, o := range r.Boundaries() {
		b := o.Boundary
		row := slices.Concat([]string{strconv.Itoa(o.Unit), o.Curve, x.Name}, numbers(o.At...), []string{
			strconv.Itoa(o.Runs), seed(o.First), seed(o.LastSeed()),
			optional(b.LastViolated), optional(b.FirstHolding), number(b.Within),
			number(b.Formula.X), strconv.FormatBool(b.Met()), b.Formula.Verdict.String(), strconv.FormatBool(b.Open()),
		})
		for _, name := range rules {
			value, verdict := "", ""
			if rule, ok := b.Rule(name); ok {
				value, verdict = number(rule.X), rule.Verdict.String()
			}
			row = append(row, value, verdict)
		}
		rows = append(rows, append(row, program))
	}
	return rows
}

// Rules returns the sorted names of all rules of thumb.
func (r Results) Rules() []string {
	seen := map[string]bool{}
	for _, o := range r.Boundaries() {
		for _, rule := range o.Boundary.Rules {
			seen[rule.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// Rule returns the result of a rule of thumb.
func (l Located) Rule(name string) (Rule, bool) {
	i := slices.IndexFunc(l.Rules, func(r Rule) bool { return r.Name == name })
	if i < 0 {
		return Rule{}, false
	}
	return l.Rules[i], true
}

// number returns the shortest text that reads back as the same number.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func numbers(list ...float64) (texts []string) {
	for _, x := range list {
		texts = append(texts, number(x))
	}
	return texts
}

func optional(x *float64) string {
	if x == nil {
		return ""
	}
	return number(*x)
}

func seed(s uint64) string { return strconv.FormatUint(s, 10) }

func (w *Witness) seed() string {
	if w == nil {
		return ""
	}
	return seed(w.Seed)
}

// figureHeads are the names of all measurements, with the unit of durations.
func figureHeads() (heads []string) {
	for _, f := range checker.NamedFigures() {
		unit := ""
		if f.Unit == checker.Nanoseconds {
			unit = "ms"
		}
		heads = append(heads, withUnit(f.Name, unit))
	}
	return heads
}

// figures formats the measurements, durations in ms.
func figures(m checker.Measurements) (texts []string) {
	for _, f := range checker.NamedFigures() {
		x := f.Of(m)
		switch f.Unit {
		case checker.Nanoseconds:
			texts = append(texts, number(x/float64(time.Millisecond)))
		case checker.Fraction:
			texts = append(texts, number(x))
		case checker.Number:
			texts = append(texts, strconv.Itoa(int(x)))
		}
	}
	return texts
}

// printed is the JSON of results.
type printed struct {
	Head
	Complete   bool              `json:"complete"` // all points are measured
	Fit        Fit               `json:"fit"`
	Points     []printedPoint    `json:"points"`
	Boundaries []printedBoundary `json:"boundaries"`
}

// printedPoint is the outcome at a point with derived values.
type printedPoint struct {
	Outcome
	LastSeed  uint64     `json:"last_seed"`
	Share     float64    `json:"share"`
	Interval  [2]float64 `json:"interval"` // Wilson, 95 %
	HalfWidth float64    `json:"half_width"`
	Inside    *bool      `json:"inside,omitempty"` // absent: no prediction
}

// printedBoundary is the outcome of a boundary with derived values.
type printedBoundary struct {
	Outcome
	LastSeed uint64 `json:"last_seed"`
	Met      bool   `json:"met"`
	Open     bool   `json:"open"`
}

// Print writes the results as one JSON value.
func (r Results) Print(to io.Writer) error {
	all := printed{r.Head, r.Complete(), r.Fit(), []printedPoint{}, []printedBoundary{}}
	for _, o := range r.Points() {
		all.Points = append(all.Points, printedPointOf(o))
	}
	for _, o := range r.Boundaries() {
		all.Boundaries = append(all.Boundaries, printedBoundary{o, o.LastSeed(), o.Boundary.Met(), o.Boundary.Open()})
	}
	text, err := files.Line(all)
	if err == nil {
		_, err = to.Write(text)
	}
	return err
}

func printedPointOf(o Outcome) printedPoint {
	one := printedPoint{Outcome: o, LastSeed: o.LastSeed(), Share: o.Point.Rate().Share(), HalfWidth: o.Point.HalfWidth()}
	one.Interval[0], one.Interval[1] = o.Point.Interval()
	if inside, known := o.Point.Inside(); known {
		one.Inside = &inside
	}
	return one
}

// Save writes the outcomes and the CSV files. Each file is replaced atomically.
func (r Results) Save(dir string) error {
	if err := r.SaveOutcomes(dir); err != nil {
		return err
	}
	tables := []struct {
		name string
		rows [][]string
	}{{PointsFile, r.pointRows()}, {BoundariesFile, r.boundaryRows()}}
	for _, t := range tables {
		if len(t.rows) == 1 { // the head alone
			continue
		}
		var b bytes.Buffer
		if err := csv.NewWriter(&b).WriteAll(t.rows); err != nil {
			return err
		}
		if err := files.WriteWhole(filepath.Join(dir, t.name), b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// SaveSummary writes the summary.
func SaveSummary(dir string, text []byte) error {
	return files.WriteWhole(filepath.Join(dir, SummaryFile), text)
}
