package report

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/sweep/plots"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// setOf says what varies among the scenarios to which one belongs: the points of a series, or the
// locks of a trial.
type setOf struct {
	series    string  // its name
	parameter string  // what varies
	point     string  // its value here, as it is shown
	x         float64 // NaN: the value is no number
	unit      string  // of x
}

// sets returns the sets by the names of their scenarios.
func sets() map[string]setOf {
	all := map[string]setOf{}
	for _, s := range scenarios.AllSeries() {
		for _, p := range s.Points {
			x, unit := quantity(p.Value)
			all[p.Name] = setOf{s.Name, s.Varied, p.Value, x, unit}
		}
	}
	for _, t := range scenarios.Trials() {
		for _, c := range scenarios.Contenders() {
			all[scenarios.ComparisonName(t.Name, c.Name)] = setOf{series: t.Name, parameter: "lock", point: c.Name, x: math.NaN()}
		}
	}
	return all
}

// quantity reads a value of a series: a number with a unit, or a duration, which is returned in
// seconds. Other values, as "50 ms, five clients", are NaN.
func quantity(value string) (x float64, unit string) {
	if d, err := time.ParseDuration(strings.ReplaceAll(value, " ", "")); err == nil {
		return d.Seconds(), "s"
	}
	number, unit, _ := strings.Cut(value, " ")
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || strings.Contains(unit, " ") {
		return math.NaN(), ""
	}
	return x, unit
}

// tableOf collects a table row by row.
type tableOf struct{ columns []plots.Column }

// column returns the column of a name, which the first row adds.
func (t *tableOf) column(name string) *plots.Column {
	for i := range t.columns {
		if t.columns[i].Name == name {
			return &t.columns[i]
		}
	}
	t.columns = append(t.columns, plots.Column{Name: name})
	return &t.columns[len(t.columns)-1]
}

func (t *tableOf) text(name, value string) {
	c := t.column(name)
	c.Texts = append(c.Texts, value)
}

// number adds a number; NaN: unknown.
func (t *tableOf) number(name string, value float64) {
	c := t.column(name)
	c.Numbers = append(c.Numbers, value)
}

func (t *tableOf) count(name string, value int) { t.number(name, float64(value)) }

// seed adds a seed as text, because floating-point numbers lack digits for some.
func (t *tableOf) seed(name string, value uint64) { t.text(name, strconv.FormatUint(value, 10)) }

// ReferenceTable has a row for each scenario and property. The names of columns are those of a
// sweep's points. Unknown values are empty: series, parameter, point, x and unit of a row that is by
// itself, expected if no verdict is expected, the share and its 95 % Wilson interval if no run was
// decided, witness_seed if no run violated the property.
func ReferenceTable(f results.Reference) []plots.Column {
	var t tableOf
	t.add(f)
	if len(t.columns) == 0 { // the head alone
		t.add(results.Reference{Rows: []results.Row{{Runs: 1, Seen: map[checker.Property]map[checker.Verdict]int{checker.Lease: nil}}}})
		for i, c := range t.columns {
			t.columns[i].Texts, t.columns[i].Numbers = c.Texts[:0], c.Numbers[:0]
		}
	}
	return t.columns
}

// add adds the rows of a reference.
func (t *tableOf) add(f results.Reference) {
	expected, sets, program := map[string]scenarios.Expectations{}, sets(), runner.Program(f.Versions)
	for _, s := range scenarios.Every() {
		expected[s.Name] = s.Expect
	}
	for _, r := range f.Rows {
		set, known := sets[r.Scenario]
		if !known {
			set.x = math.NaN()
		}
		for _, p := range checker.Properties() {
			seen, judged := r.Seen[p]
			if !judged {
				continue
			}
			t.text("scenario", r.Scenario)
			t.text("series", set.series)
			t.text("parameter", set.parameter)
			t.text("point", set.point)
			t.number("x", set.x)
			t.text("x_unit", set.unit)
			t.text("backend", f.Backend)
			t.text("property", p.String())
			t.text("code", p.Code())
			wanted := ""
			if v, stated := expected[r.Scenario][p]; stated {
				wanted = v.String()
			}
			t.text("expected", wanted)
			t.verdicts(r, seen)
			t.violations(r, p)
			t.text("lockstorm", program)
		}
	}
}

// verdicts adds the numbers of runs by their verdicts.
func (t *tableOf) verdicts(r results.Row, seen map[checker.Verdict]int) {
	t.count("runs", r.Runs)
	t.seed("first_seed", r.First)
	t.seed("last_seed", r.First+uint64(r.Runs-1))
	t.count("violated_runs", seen[checker.Violated])
	t.count("held_runs", seen[checker.Holds])
	t.count("undecided_runs", seen[checker.Unknown])
	t.count("not_applicable_runs", seen[checker.NotApplicable])
	slipped := 0
	if r.Slipped != nil {
		slipped = r.Slipped.Runs
	}
	t.count("slipped_runs", slipped)
}

// violations adds the share of violated runs and the first of them.
func (t *tableOf) violations(r results.Row, p checker.Property) {
	rate := runner.Rate{K: r.Seen[p][checker.Violated], N: r.Seen[p][checker.Violated] + r.Seen[p][checker.Holds]}
	share, low, high := math.NaN(), math.NaN(), math.NaN()
	if rate.N > 0 {
		share = rate.Share()
		low, high = rate.Wilson()
	}
	count, witness := 0, ""
	for _, v := range r.Violations {
		if v.Property == p {
			count, witness = v.Count, strconv.FormatUint(v.Seed, 10)
		}
	}
	t.count("violations", count)
	t.number("violated_share", share)
	t.number("wilson95_low", low)
	t.number("wilson95_high", high)
	t.text("witness_seed", witness)
}
