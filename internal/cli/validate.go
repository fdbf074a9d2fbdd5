package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

func newValidate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check scenario files without running them",
		Long: `Check scenario files without running them; - is standard input. A valid file gets a
line with its content and the properties without a bound. Each mistake gets a line with
file, line and reason. A warning names what would stop a simulated run before its
horizon: clients that retry without a delay, or more events than a run may have.
--backend selects the world whose limits apply.

Exit codes: 0 all files are valid; 2 one is not.

docs/scenario-format.md describes the format; "lockstorm schema" prints its JSON schema.`,
		Example: `  lockstorm validate mine.yaml
  lockstorm validate --backend process mine.yaml yours.yaml
  lockstorm show calm | lockstorm validate -`,
		Args: takes(1, anyNumber),
	}
	backend := backendFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		b, err := backend.able()
		if err != nil {
			return err
		}
		terminal.Fit(cmd.OutOrStdout())
		bad := false
		for _, name := range args {
			e, err := validate(name, cmd.InOrStdin(), b)
			if err == nil {
				_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s: ok (%s)\n", name, inShort(e.Scenario()))
				for _, w := range e.Warnings() {
					_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s: warning: %s\n", name, oneLine.Replace(w.Error()))
				}
				continue
			}
			bad = true
			printMistakes(cmd.OutOrStdout(), name, err)
		}
		if bad {
			return verdictError(exitBadInput)
		}
		return nil
	}
	return cmd
}

// validate reads a file, or standard input, and checks it for a backend.
func validate(name string, input io.Reader, b runner.Backend) (e runner.Experiment, err error) {
	check := func(s scenarios.Scenario) (err error) {
		e, err = prepareOn(b, s)
		return err
	}
	if name == "-" {
		if _, err = scenarios.Read(input, ".", check); err != nil {
			err = fmt.Errorf("-: %w", err)
		}
		return e, err
	}
	_, err = loadAnd(name, check)
	return e, err
}

// printMistakes gives each mistake in a file a line of its own.
func printMistakes(out io.Writer, name string, err error) {
	var all scenarios.Mistakes
	if !errors.As(err, &all) {
		_, _ = fmt.Fprintln(out, oneLine.Replace(err.Error()))
		return
	}
	for _, m := range all {
		_, _ = fmt.Fprintf(out, "%s: %s\n", name, oneLine.Replace(m.Error()))
	}
}

// inShort summarizes a scenario.
func inShort(s scenarios.Scenario) string {
	text := fmt.Sprintf("%s, %s, %s, %s", s.Lock.Kind, textfmt.Count(len(s.Clients), "client"), textfmt.Count(s.Nodes, "node"), textfmt.Count(len(s.Plan), "fault"))
	if s.Generate != nil {
		text += fmt.Sprintf(" and up to %d generated", s.Generate.Most)
	}
	text += fmt.Sprintf(", %s expected", textfmt.Count(len(s.Expect), "verdict"))
	if list := checker.Unasked(s.Bounds); len(list) > 0 {
		text += fmt.Sprintf("; not judged, without a bound: %v", list)
	}
	return text
}
