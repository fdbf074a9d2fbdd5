package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/scenarios"
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
	if err != nil {
		return scenarios.Scenario{}, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

func isFile(name string) bool {
	return strings.ContainsAny(name, "./\\")
}
