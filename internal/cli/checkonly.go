package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// checkOnly checks scenarios without running them, and prints a line for each, or for each of its
// mistakes.
func checkOnly(cmd *cobra.Command, backend *backendChoice, names []string) error {
	b, err := backend.able()
	if err != nil {
		return err
	}
	out, bad := cmd.OutOrStdout(), false
	terminal.Fit(out)
	for _, name := range names {
		e, err := validate(name, cmd.InOrStdin(), b)
		if err != nil {
			bad = true
			printMistakes(out, name, err)
			continue
		}
		_, _ = fmt.Fprintf(out, "%s: ok (%s)\n", name, inShort(e.Scenario()))
		for _, w := range e.Warnings() {
			_, _ = fmt.Fprintf(out, "%s: warning: %s\n", name, oneLine.Replace(w.Error()))
		}
	}
	if bad {
		return verdictError(exitBadInput)
	}
	return nil
}

// validate finds a scenario, in a file or by its name or on standard input, and checks it for a backend.
func validate(name string, input io.Reader, b runner.Backend) (e runner.Experiment, err error) {
	check := func(s scenarios.Scenario) (err error) {
		e, err = prepareOn(b, s)
		return err
	}
	if name == standardInput {
		if _, err = scenarios.Read(input, ".", check); err != nil {
			err = fmt.Errorf("-: %w", err)
		}
		return e, err
	}
	_, err = findAnd(name, check)
	return e, err
}

// printMistakes gives each mistake in a file a line of its own.
func printMistakes(out io.Writer, name string, err error) {
	var all form.Mistakes
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
	unasked := checker.Unasked(s.Bounds)
	rest := slices.DeleteFunc(checker.Properties(), func(p checker.Property) bool {
		_, stated := s.Expect[p]
		return stated || slices.Contains(unasked, p)
	})
	if len(rest) > 0 {
		text += fmt.Sprintf("; not to be violated: %v", rest)
	}
	if len(unasked) > 0 {
		text += fmt.Sprintf("; not judged, without a bound: %v", unasked)
	}
	return text
}
