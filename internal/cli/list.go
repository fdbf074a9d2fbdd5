package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/docs"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results/cases"
	"github.com/lockstorm/lockstorm/scenarios"
)

func newList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List scenarios, locks, workloads, faults, backends, properties and assumptions",
		Example: "  lockstorm list",
		Args:    takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return list(cmd.OutOrStdout())
		},
	}
}

func list(out io.Writer) error {
	terminal.Fit(out)
	gap, t := "", &textfmt.Table{}
	title := func(s string) {
		printTable(out, t)
		_, _ = fmt.Fprintf(out, "%s%s\n", gap, terminal.On(out).Strong(s))
		gap, t = "\n", &textfmt.Table{}
	}
	entry := func(cells ...string) { t.Add(append([]string{"  " + cells[0]}, cells[1:]...)...) }

	described := func(names []string, what map[string]string) {
		for _, n := range names {
			entry(n, what[n])
		}
	}

	title("Scenarios")
	for _, s := range scenarios.All() {
		entry(s.Name, s.Summary)
	}
	title("Suites")
	for _, s := range suites {
		entry(suiteMark+s.name, s.what)
	}
	title("Published results")
	for _, s := range scenarios.Published() {
		entry(s.Name, s.Summary)
	}
	title("Series")
	for _, s := range scenarios.AllSeries() {
		entry(s.Name, s.Summary)
	}
	title("Sweeps")
	for _, known := range sweeps {
		s, err := known.make()
		if err != nil {
			return err
		}
		entry(s.Name, s.Summary)
	}
	title("Trials of compare")
	for _, t := range scenarios.Trials() {
		entry(t.Name, t.Summary)
	}
	title("Locks of compare")
	for _, c := range scenarios.Contenders() {
		entry(c.Name, c.Summary)
	}
	title("Locks")
	described(runner.Locks())
	title("Workloads")
	described(runner.Workloads())
	title("Faults")
	kinds, does := nemesis.Kinds()
	for _, k := range kinds {
		entry(string(k), does[k]+" ("+strings.Join(able(k), ", ")+")")
	}
	title("Backends")
	for _, b := range backends {
		entry(b.Name, b.what)
	}
	title("Clients on real servers")
	for _, c := range whatClientsAre {
		entry(c.name, c.what)
	}
	title("Properties")
	for _, p := range checker.Properties() {
		entry(p.String(), p.Code(), p.Title())
	}
	title("Assumptions")
	for _, a := range checker.Assumptions() {
		entry(string(a), a.Text())
	}
	printTable(out, t)
	return nil
}

// able names the backends that can carry out a kind of fault.
func able(k nemesis.Kind) []string {
	var list []string
	for _, b := range backends {
		if slices.Contains(b.Kinds, k) {
			list = append(list, b.Name)
		}
	}
	return list
}

func newShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show SCENARIO",
		Short: "Print a scenario as YAML",
		Long: `Print a scenario as YAML. Save it, change a number, and run the file.
docs/scenario-format.md describes the format.`,
		Example: `  lockstorm show crash-restart
  lockstorm show delayed-restart >mine.yaml && lockstorm run mine.yaml`,
		Args: scenarioName,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := findScenario(args[0])
			if err != nil {
				return err
			}
			return s.Print(cmd.OutOrStdout())
		},
	}
}

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

// finder finds a scenario by its name or in a file, and checks it.
type finder func(name string, check func(scenarios.Scenario) error) (scenarios.Scenario, error)

// findAnd finds a scenario and checks it. Errors in a file name the file and, if known, the line.
func findAnd(name string, check func(scenarios.Scenario) error) (scenarios.Scenario, error) {
	if !isFile(name) {
		return nameAnd(name, check)
	}
	return loadAnd(name, check)
}

// nameAnd finds a scenario by its name and checks it.
func nameAnd(name string, check func(scenarios.Scenario) error) (scenarios.Scenario, error) {
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
	if err != nil {
		if _, no := cases.Load(path); no == nil { // both are YAML, and a hunt keeps cases
			err = fmt.Errorf("%s: this is a case, not a scenario: use lockstorm replay", path)
		}
	}
	return s, err
}

func isFile(name string) bool {
	return strings.ContainsAny(name, "./\\")
}

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of scenario files",
		Long: `Print the JSON schema of scenario files (draft 2020-12), with which an editor
completes and checks them while they are written.`,
		Example: `  lockstorm schema >scenario.schema.json`,
		Args:    takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(docs.ScenarioSchema)
			return err
		},
	}
}
