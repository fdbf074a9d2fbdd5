package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// anyNumber is the largest number of arguments of a command that has no largest one.
const anyNumber = -1

// takes returns a check that a command has so many arguments.
func takes(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("too few arguments: want %s", usageOf(cmd))
		case most != anyNumber && len(args) > most:
			return fmt.Errorf("unexpected argument %q: want %s", args[most], usageOf(cmd))
		}
		return nil
	}
}

// scenarioName checks the argument of a command that takes one scenario.
func scenarioName(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s needs a SCENARIO: a name, such as calm, crash-restart or pause-then-write, or a YAML file (\"lockstorm list scenarios\" names all)", cmd.Name())
	}
	return takes(1, 1)(cmd, args)
}

// usageOf returns a command with the names of its arguments.
func usageOf(cmd *cobra.Command) string {
	_, arguments, _ := strings.Cut(cmd.Use, " ")
	return strings.TrimSpace(cmd.CommandPath() + " " + arguments)
}

// flagError returns the error of a flag in words that do not come from a library.
func flagError(cmd *cobra.Command, err error) error {
	if unknown := new(pflag.NotExistError); errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		return unknownFlag(cmd, unknown.GetSpecifiedName(), err)
	}
	wrong := new(pflag.InvalidValueError)
	if !errors.As(err, &wrong) {
		return err
	}
	f := wrong.GetFlag()
	if want := wantedValues[f.Value.Type()]; want != "" {
		return fmt.Errorf("--%s %q: want %s", f.Name, wrong.GetValue(), want)
	}
	return fmt.Errorf("--%s: %w", f.Name, wrong.Unwrap()) // which is ours, and names the value
}

// wantedValues describes the values of flags of a type whose own error names a function of Go.
var wantedValues = map[string]string{
	"int":         "a whole number up to 2⁶³−1",
	"uint64":      "a whole number from 0 to 2⁶⁴−1",
	"bool":        "true or false",
	"duration":    "a duration, such as 1.5s",
	"stringSlice": "values with commas between them",
}

// parseDuration is [time.ParseDuration] with an error in the words of [flagError].
func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q: want %s", text, wantedValues["duration"])
	}
	return d, nil
}

// mostFlags is how many similar flags an error names.
const mostFlags = 3

// unknownFlag adds to the error about an unknown flag what may have been meant: an argument of the
// command, the flag of another command, or flags of similar names.
func unknownFlag(cmd *cobra.Command, name string, err error) error {
	arguments := strings.FieldsFunc(cmd.Use, func(r rune) bool { return !unicode.IsUpper(r) })
	if slices.Contains(arguments, strings.ToUpper(strings.TrimSuffix(name, "s"))) {
		return fmt.Errorf("%w: it is an argument: %s", err, usageOf(cmd))
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	var others []string
	for _, other := range cmd.Root().Commands() {
		if f := other.Flags().Lookup(name); f != nil && !f.Hidden {
			others = append(others, other.CommandPath())
		}
	}
	if others != nil { // which is no misspelling
		return fmt.Errorf("%w: it is a flag of %s (see %s --help)", err, strings.Join(others, ", "), cmd.CommandPath())
	}
	if near := textfmt.Nearest(name, known, mostFlags); len(near) > 0 {
		return fmt.Errorf("%w: did you mean --%s?", err, strings.Join(near, " or --"))
	}
	return fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())
}
