package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

func newShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show SCENARIO",
		Short: "Print a scenario as YAML",
		Long:  "Print a scenario as YAML. Save it, change a number, and run the file.",
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
	if !isFile(name) {
		return scenarios.Find(name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return scenarios.Scenario{}, err
	}
	s, err := scenarios.Parse(text)
	return s, inFile(name, err)
}

// prepare finds a scenario and checks that it can run on the backend.
func prepare(name string, b storm.Backend) (scenarios.Scenario, error) {
	s, err := findScenario(name)
	if err != nil {
		return s, err
	}
	err = storm.Prepare(b, s)
	if err == nil || !isFile(name) {
		return s, err
	}
	text, unread := os.ReadFile(name)
	if unread != nil {
		return s, err
	}
	return s, inFile(name, scenarios.Locate(text, err))
}

func inFile(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}

func isFile(name string) bool {
	return strings.ContainsAny(name, "./\\")
}
