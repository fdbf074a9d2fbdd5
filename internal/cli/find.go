package cli

import (
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/lockstorm/lockstorm/internal/measure/series"
	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results/cases"
	"github.com/lockstorm/lockstorm/scenarios"
)

// findScenario finds a scenario by its name or its file.
func findScenario(name string) (scenarios.Scenario, error) {
	return findAnd(name, func(scenarios.Scenario) error { return nil })
}

// prepare finds a scenario and prepares it for the backend.
func prepare(name string, b runner.Backend) (e runner.Experiment, err error) {
	_, err = findAnd(name, func(s scenarios.Scenario) (err error) {
		e, err = prepareOn(b, s)
		return err
	})
	return e, err
}

// findAnd finds a scenario by its name, or in a file, and checks it. Errors in a file name the file and, if
// known, the line.
func findAnd(name string, check func(scenarios.Scenario) error) (scenarios.Scenario, error) {
	if isFile(name) {
		return loadAnd(name, check)
	}
	s, err := scenarios.Find(name)
	if p, ok := findPoint(name); ok && err != nil {
		s, err = p, nil
	}
	if err != nil {
		if info, no := os.Stat(name); no == nil {
			err = fmt.Errorf("%s is no scenario: want the name of one, or a YAML file with a dot or a slash in its name", pathKind(name, info))
		}
		return s, err
	}
	return s, check(s)
}

// pathKind names a file or a directory with what it is.
func pathKind(name string, info fs.FileInfo) string {
	if info.IsDir() {
		return "the directory " + name
	}
	return "the file " + name
}

// loadAnd loads a scenario from a file and checks it.
func loadAnd(path string, check func(scenarios.Scenario) error) (scenarios.Scenario, error) {
	s, err := scenarios.Load(path, check)
	if err != nil { // all are YAML
		if _, no := cases.Load(path); no == nil { // a hunt keeps cases
			err = fmt.Errorf("%s: this is a case, not a scenario: use lockstorm replay", path)
		} else if _, no := scenarios.LoadStorm(path); no == nil {
			err = fmt.Errorf("%s: this is a storm of locktest, not a scenario: use locktest.LoadStorm, or lockstorm test --storm", path)
		}
	}
	return s, err
}

func isFile(name string) bool {
	return strings.ContainsAny(name, "./\\")
}

// sweeps are those that there are, in the order in which they are listed.
var sweeps = series.All

// findSweep makes the sweep of a name.
func findSweep(name string) (sweep.Sweep, error) {
	var known []string
	for _, s := range sweeps {
		if s.Name == name {
			return s.Make(), nil
		}
		known = append(known, s.Name)
	}
	return sweep.Sweep{}, &textfmt.UnknownError{What: "sweep", Name: name, Known: known}
}

// findPoint finds a point of any sweep by the name of its scenario.
func findPoint(name string) (scenarios.Scenario, bool) {
	for _, known := range sweeps {
		for _, p := range known.Make().Points {
			if p.Scenario.Name == name {
				return p.Scenario, true
			}
		}
	}
	return scenarios.Scenario{}, false
}
