package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/sweep/series"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// namedSweep is a sweep by the name that it gives itself.
type namedSweep struct {
	name string
	make func() sweep.Sweep
}

// sweeps are those that there are, in the order in which they are listed.
var sweeps = []namedSweep{
	{"restart-delay", series.RestartDelay},
	{"restart-delay-price", series.RestartDelayPrice},
	{"restart-delay-reference", series.RestartDelayReference},
	{"restart-boundary", series.RestartBoundary},
	{"drift", series.Drift},
	{"drift-edge", series.DriftEdge},
}

// findSweep makes the sweep of a name.
func findSweep(name string) (sweep.Sweep, error) {
	var known []string
	for _, s := range sweeps {
		if s.name == name {
			return s.make(), nil
		}
		known = append(known, s.name)
	}
	return sweep.Sweep{}, &textfmt.UnknownError{What: "sweep", Name: name, Known: known}
}

// findPoint finds a point of any sweep by the name of its scenario.
func findPoint(name string) (scenarios.Scenario, bool) {
	for _, known := range sweeps {
		for _, p := range known.make().Points {
			if p.Scenario.Name == name {
				return p.Scenario, true
			}
		}
	}
	return scenarios.Scenario{}, false
}

// mostShown is the largest x for which the scenario of a boundary is shown.
const mostShown = 1000

// showUnit prints the scenario of a point, or that of a boundary at some x: "7", "3@0.95".
func showUnit(s sweep.Sweep, which string, out io.Writer) error {
	number, at, isAt := strings.Cut(which, "@")
	n, err := strconv.Atoi(number)
	x := 0.0
	if err == nil && isAt {
		x, err = strconv.ParseFloat(at, 64)
	}
	if err != nil || !(0 <= x && x <= mostShown) {
		return fmt.Errorf("--show %s: want the number of a point, or a boundary and an x from 0 to %d, such as 3@0.95", which, mostShown)
	}
	shown, err := s.At(n, x)
	switch {
	case err != nil:
		return fmt.Errorf("--show %s: %w", which, err)
	case isAt == (n <= len(s.Points)):
		return fmt.Errorf("--show %s: numbers up to %d are points; the rest are boundaries, which need an x, such as %d@0.95", which, len(s.Points), len(s.Points)+1)
	}
	return shown.Print(out)
}

// listSweeps prints the sweeps.
func listSweeps(out io.Writer) error {
	terminal.Fit(out)
	t := &textfmt.Table{Head: []string{"sweep", "points", "boundaries", "what it shows"}}
	for _, known := range sweeps {
		s := known.make()
		t.Add(s.Name, fmt.Sprint(len(s.Points)), fmt.Sprint(len(s.Boundaries)), s.Summary)
	}
	printTable(out, t)
	return nil
}
