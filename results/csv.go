package results

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// PrintCSV prints a line for each scenario and property. Columns that do not apply are empty:
// expected if no verdict is expected, share and its 95 % Wilson interval if no run was decided,
// first_seed if no run violated the property.
func (f Reference) PrintCSV(out io.Writer) error {
	expected := map[string]scenarios.Expectations{}
	for _, s := range scenarios.Every() {
		expected[s.Name] = s.Expect
	}
	w := csv.NewWriter(out)
	if err := w.Write([]string{"scenario", "backend", "property", "code", "expected", "runs", "holds", "violated", "unknown", "n/a",
		"share_violated", "low", "high", "violations", "first_seed"}); err != nil {
		return err
	}
	for _, r := range f.Rows {
		for _, p := range checker.Properties() {
			if seen, judged := r.Seen[p]; judged {
				if err := w.Write(r.csv(f.Backend, p, seen, expected[r.Scenario])); err != nil {
					return err
				}
			}
		}
	}
	w.Flush()
	return w.Error()
}

// csv returns the line of a property.
func (r Row) csv(backend string, p checker.Property, seen map[checker.Verdict]int, expected scenarios.Expectations) []string {
	line := []string{r.Scenario, backend, p.String(), p.Code(), ""}
	if v, stated := expected[p]; stated {
		line[len(line)-1] = v.String()
	}
	line = append(line, strconv.Itoa(r.Runs))
	for _, v := range []checker.Verdict{checker.Holds, checker.Violated, checker.Unknown, checker.NotApplicable} {
		line = append(line, strconv.Itoa(seen[v]))
	}
	if rate := (runner.Rate{K: seen[checker.Violated], N: seen[checker.Violated] + seen[checker.Holds]}); rate.N > 0 {
		low, high := rate.Wilson()
		line = append(line, decimal(rate.Share()), decimal(low), decimal(high))
	} else {
		line = append(line, "", "", "")
	}
	for _, v := range r.Violations {
		if v.Property == p {
			return append(line, strconv.Itoa(v.Count), strconv.FormatUint(v.Seed, 10))
		}
	}
	return append(line, "0", "")
}

// decimal prints a number so that it can be read back exactly.
func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
