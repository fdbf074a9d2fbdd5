package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/sweep"
	"github.com/lockstorm/lockstorm/sweep/drift"
	"github.com/lockstorm/lockstorm/sweep/restart"
)

// namedSweep is a sweep by the name that it gives itself.
type namedSweep struct {
	name string
	make func() (sweep.Sweep, error)
}

// sweeps are those that there are, in the order in which they are listed.
var sweeps = []namedSweep{
	{"restart-delay", fixed(restart.Delay)},
	{"restart-delay-price", fixed(restart.Price)},
	{"restart-delay-reference", fixed(restart.Reference)},
	{"restart-boundary", fixed(restart.Boundaries)},
	{"drift", fixed(drift.Map)},
	{"drift-edge", fixed(drift.Edge)},
}

// fixed is a sweep that is made of nothing that could be wrong.
func fixed(s func() sweep.Sweep) func() (sweep.Sweep, error) {
	return func() (sweep.Sweep, error) { return s(), nil }
}

// findSweep makes the sweep of a name.
func findSweep(name string) (sweep.Sweep, error) {
	var known []string
	for _, s := range sweeps {
		if s.name == name {
			return s.make()
		}
		known = append(known, s.name)
	}
	return sweep.Sweep{}, fmt.Errorf("unknown sweep %q: there is %s", name, dash(strings.Join(known, ", ")))
}

// findPoint finds a point of any sweep by the name of its scenario.
func findPoint(name string) (scenarios.Scenario, bool) {
	for _, known := range sweeps {
		s, err := known.make()
		if err != nil { // which is told to whoever runs the sweep
			continue
		}
		for _, p := range s.Points {
			if p.Scenario.Name == name {
				return p.Scenario, true
			}
		}
	}
	return scenarios.Scenario{}, false
}

// listSweeps prints what can be swept.
func listSweeps(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "SWEEP\tPOINTS\tBOUNDARIES\tWHAT IT SHOWS")
	for _, known := range sweeps {
		s, err := known.make()
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", s.Name, len(s.Points), len(s.Boundaries), s.Summary)
	}
	return w.Flush()
}
