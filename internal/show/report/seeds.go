package report

import (
	"fmt"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Debate is the results of a debate on one or more backends.
type Debate struct {
	Topics []scenarios.Topic
	Sides  []Side // at least one; the others are compared with the first

	// StoredRun returns the directory of a stored run, or "". It may be nil. A witness that is
	// not stored is run again if the backend is exact.
	StoredRun func(scenario, backend string, seed uint64) string

	Stopped bool // before its end
}

// FirstSeeds returns the first seed of each scenario of a reference.
func FirstSeeds(f results.Reference) map[string]uint64 {
	first := map[string]uint64{}
	for _, r := range f.Rows {
		first[r.Scenario] = r.First
	}
	return first
}

// extent is how many runs each of some scenarios had, and the first seed.
type extent struct {
	runs  int // 0: there is no scenario
	first uint64
	mixed bool // they differ
}

// add adds a scenario of a side, if its results are known.
func (e *extent) add(s Side, name string) {
	t, known := s.Found[name]
	one := extent{runs: t.Runs, first: s.First[name]}
	switch {
	case !known:
	case e.runs == 0:
		*e = one
	case e.runs != one.runs || e.first != one.first:
		e.mixed = true
	}
}

// text says how many runs there were, each of what, and their seeds.
func (e extent) text(of string) string {
	switch {
	case e.runs == 0:
		return ""
	case e.mixed:
		return ", different numbers of runs a " + of
	case e.runs == 1:
		return fmt.Sprintf(", 1 run a %s, seed %d", of, e.first)
	}
	return fmt.Sprintf(", %s a %s, seeds %d to %d", textfmt.Count(e.runs, "run"), of, e.first, e.first+uint64(e.runs-1))
}

// extents are those of the rows and of the values of series of a side.
func (d Debate) extents(s Side) (rows, values extent) {
	for _, t := range d.Topics {
		for _, r := range t.Rows {
			rows.add(s, r.Name)
		}
		for _, series := range t.Series {
			for _, p := range series.Points {
				values.add(s, p.Name)
			}
		}
	}
	return rows, values
}

// command is the command line that repeats the debate of a side; "": there is no single one.
func (d Debate) command(s Side) string {
	rows, values := d.extents(s)
	both := rows.runs > 0 && values.runs > 0
	if d.Stopped || rows.mixed || values.mixed || both && (rows.first != values.first || (rows.runs+1)/2 != values.runs) {
		return ""
	}
	args := append([]string{"debate"}, d.named(s)...)
	args = append(args, s.args()...)
	first, runs := rows.first, rows.runs
	if runs == 0 {
		first, runs = values.first, 2*values.runs // a point has half as many as a row
	}
	return textfmt.Command(append(args, "--runs", fmt.Sprint(runs), "--seed", fmt.Sprint(first))...)
}

// named returns the rows and series with results, or nil if those are all that a debate runs on the
// backend unless it is told which.
func (d Debate) named(s Side) (names []string) {
	all, seen := true, map[string]bool{}
	see := func(name string, known, asked bool) {
		all = all && known == asked
		if known && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for _, t := range scenarios.Topics() {
		for _, r := range t.Rows {
			_, known := s.Found[r.Name]
			_, err := runner.Prepare(s.Backend, r.Scenario)
			see(r.Name, known, err == nil)
		}
		for _, series := range t.Series {
			see(series.Name, len(s.Found.Curve(series).Tallies) > 0, s.Exact)
		}
	}
	if all {
		return nil
	}
	return names
}

// BackendArgs are the arguments that choose a backend, by its name and by the versions that its results
// are stored with.
func BackendArgs(name string, versions map[string]string) (args []string) {
	if name != simulated.Backend().Name {
		args = append(args, "--backend", name)
	}
	if clients := versions["clients"]; clients != "" {
		args = append(args, "--clients", clients)
	}
	return args
}

func (s Side) args() []string { return BackendArgs(s.Name, s.Versions) }

// rateCommand is the command line that repeats all runs of a row on a side.
func rateCommand(s Side, row string) string {
	args := append([]string{"debate", row}, s.args()...)
	return textfmt.Command(append(args, "--runs", fmt.Sprint(s.Found[row].Runs), "--seed", fmt.Sprint(s.First[row]))...)
}
