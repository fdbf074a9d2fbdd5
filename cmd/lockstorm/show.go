package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/cases"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

func newShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show SCENARIO",
		Short: "Print a scenario as YAML",
		Long: `Print a scenario as YAML. Save it, change a number, and run the file.
docs/scenario-format.md describes the format.`,
		Example: `  lockstorm show crash-restart
  lockstorm show delayed-restart >mine.yaml && lockstorm run mine.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := findScenario(args[0])
			if err != nil {
				return err
			}
			return s.Print(cmd.OutOrStdout())
		},
	}
}

// findScenario takes the name of a scenario or that of a file.
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

// findAnd finds a scenario and checks it. What is wrong with one from a file is
// said with the file's name and, where it is known, the line.
func findAnd(name string, check func(scenarios.Scenario) error) (scenarios.Scenario, error) {
	if !isFile(name) {
		s, err := scenarios.Find(name)
		if p, ok := findPoint(name); ok && err != nil {
			s, err = p, nil
		}
		if err == nil {
			err = check(s)
		}
		return s, err
	}
	return loadAnd(name, check)
}

// loadAnd loads a scenario from a file and checks it.
func loadAnd(path string, check func(scenarios.Scenario) error) (scenarios.Scenario, error) {
	s, err := scenarios.Load(path, check)
	if err != nil {
		if _, no := cases.Load(path); no == nil { // both are YAML, and a hunt keeps cases
			err = fmt.Errorf("%s: a case, and not a scenario: lockstorm replay repeats it", path)
		}
	}
	return s, err
}

func isFile(name string) bool {
	return strings.ContainsAny(name, "./\\")
}
