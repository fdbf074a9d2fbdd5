package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// setOf says what varies among the scenarios to which one belongs: the points of a series, or the
// locks of a trial.
type setOf struct {
	series    string // its name
	parameter string // what varies
	point     string // its value here, as it is shown
	x, unit   string // the value as a number; empty: it is none
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
			all[scenarios.ComparisonName(t.Name, c.Name)] = setOf{series: t.Name, parameter: "lock", point: c.Name}
		}
	}
	return all
}

// quantity reads a value of a series: a number with a unit, or a duration, which is returned in
// seconds. Other values, as "50 ms, five clients", are no number.
func quantity(value string) (x, unit string) {
	if d, err := time.ParseDuration(strings.ReplaceAll(value, " ", "")); err == nil {
		return plain(d.Seconds()), "s"
	}
	number, unit, _ := strings.Cut(value, " ")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || strings.Contains(unit, " ") {
		return "", ""
	}
	return plain(v), unit
}

// plain returns the shortest text that reads back as the same number.
func plain(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// WriteCSV writes a line for each scenario and property. The names of columns are those of a sweep's
// points. Unknown values are empty: series, parameter, point, x and unit of a row that is by itself,
// expected if no verdict is expected, the share and its 95 % Wilson interval if no run was decided,
// witness_seed if no run violated the property.
func WriteCSV(out io.Writer, f results.Reference) error {
	w := csv.NewWriter(out)
	_ = w.Write([]string{
		"scenario", "series", "parameter", "point", "x", "x_unit", "backend", "property", "code", "expected",
		"runs", "first_seed", "last_seed", "violated_runs", "held_runs", "undecided_runs", "not_applicable_runs", "slipped_runs",
		"violations", "violated_share", "wilson95_low", "wilson95_high", "witness_seed", "lockstorm",
	})
	expected, sets, program := map[string]scenarios.Expectations{}, sets(), runner.Program(f.Versions)
	for _, s := range scenarios.Every() {
		expected[s.Name] = s.Expect
	}
	for _, r := range f.Rows {
		set := sets[r.Scenario]
		for _, p := range checker.Properties() {
			seen, judged := r.Seen[p]
			if !judged {
				continue
			}
			wanted := ""
			if v, stated := expected[r.Scenario][p]; stated {
				wanted = v.String()
			}
			line := []string{r.Scenario, set.series, set.parameter, set.point, set.x, set.unit, f.Backend, p.String(), p.Code(), wanted}
			line = append(line, counts(r, seen)...)
			line = append(line, violations(r, p)...)
			_ = w.Write(append(line, program))
		}
	}
	w.Flush()
	return w.Error()
}

// counts returns the numbers of runs by their verdicts.
func counts(r results.Row, seen map[checker.Verdict]int) []string {
	slipped := 0
	if r.Slipped != nil {
		slipped = r.Slipped.Runs
	}
	cells := []string{strconv.Itoa(r.Runs), strconv.FormatUint(r.First, 10), strconv.FormatUint(r.First+uint64(r.Runs-1), 10)}
	for _, n := range []int{seen[checker.Violated], seen[checker.Holds], seen[checker.Unknown], seen[checker.NotApplicable], slipped} {
		cells = append(cells, strconv.Itoa(n))
	}
	return cells
}

// violations returns the share of violated runs and the first of them.
func violations(r results.Row, p checker.Property) []string {
	rate := runner.Rate{K: r.Seen[p][checker.Violated], N: r.Seen[p][checker.Violated] + r.Seen[p][checker.Holds]}
	share, low, high := "", "", ""
	if rate.N > 0 {
		l, h := rate.Wilson()
		share, low, high = plain(rate.Share()), plain(l), plain(h)
	}
	count, witness := 0, ""
	for _, v := range r.Violations {
		if v.Finding.Property == p {
			count, witness = v.Count, strconv.FormatUint(v.Seed, 10)
		}
	}
	return []string{strconv.Itoa(count), share, low, high, witness}
}
