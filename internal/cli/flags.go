package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The formats of standard output.
const (
	asText     = "text"
	asMarkdown = "markdown"
	asJSON     = "json"
	asCSV      = "csv"
)

// tableFormats are the formats of suites.
var tableFormats = []string{asText, asMarkdown, asJSON, asCSV}

// formatFlag declares --format with the formats of a command, at least two. The first one is the default.
func formatFlag(cmd *cobra.Command, into *string, formats []string, more string) {
	cmd.Flags().StringVar(into, "format", formats[0], either(formats)+more)
	_ = cmd.Flags().SetAnnotation("format", "format", formats) // the flag is there
}

// formatsOf returns the formats of a command.
func formatsOf(cmd *cobra.Command) []string {
	if f := cmd.Flags().Lookup("format"); f != nil {
		return f.Annotations["format"]
	}
	return nil
}

// either lists at least two names, of which one is wanted.
func either(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// checkCommon checks the flags whose values are restricted alike in every command.
func checkCommon(cmd *cobra.Command) error {
	for _, name := range []string{"runs", "parallel", "budget", "format"} {
		f := cmd.Flags().Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		value := f.Value.String()
		switch name {
		case "budget":
			if d, err := time.ParseDuration(value); err == nil && d <= 0 {
				return fmt.Errorf("--budget %v: want more than 0", d)
			}
		case "format":
			if known := formatsOf(cmd); !slices.Contains(known, value) {
				return fmt.Errorf("--format %q: want %s", value, either(known))
			}
		default:
			if n, err := strconv.Atoi(value); err == nil && n < 1 {
				return fmt.Errorf("--%s %d: want at least 1", name, n)
			}
		}
	}
	return nil
}

// withBudget returns a context that ends after the budget; 0: it does not.
func withBudget(ctx context.Context, budget time.Duration) (context.Context, context.CancelFunc) {
	if budget == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, budget)
}

// shareOf returns a context that ends after an equal share of the time that ctx has left, if that is limited.
func shareOf(ctx context.Context, shares int) (context.Context, context.CancelFunc) {
	end, limited := ctx.Deadline()
	if !limited {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Until(end)/time.Duration(shares))
}

// mostPoints is the largest number of points of a sweep.
const mostPoints = 10_000

// numbers is a flag with a list of numbers from 1 on and of ranges: "1,7,12-14". A repeated flag adds to
// the list.
type numbers []int

// Set implements pflag.Value.
func (n *numbers) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err := strconv.Atoi(low)
		last, bad := strconv.Atoi(high)
		if err != nil || bad != nil || first < 1 || last < first || last > mostPoints {
			return fmt.Errorf("%q: want numbers from 1 to %d and ranges, such as 1,7,12-14", part, mostPoints)
		}
		for i := first; i <= last; i++ {
			*n = append(*n, i)
		}
	}
	return nil
}

// String implements pflag.Value. It returns what Set accepts.
func (n *numbers) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint([]int(*n)), " ", ","), "[]")
}

// Type implements pflag.Value.
func (*numbers) Type() string { return "numbers" }

// sorted returns each number once, in order.
func (n *numbers) sorted() []int { return slices.Compact(slices.Sorted(slices.Values(*n))) }

// givenFaults are the flags that ask for generated faults.
type givenFaults struct {
	kinds string
	most  int
}

func (g *givenFaults) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&g.kinds, "faults", "", "add generated faults: all, or kinds with weights up to 9, such as crash,partition:3 or all,kill:0")
	cmd.Flags().IntVar(&g.most, "most", 4, "with --faults: maximum number of faults in a run")
}

// generator returns the generator that the flags select for a setting on a backend, or nil. It
// names all kinds that it draws, so that a later program with more kinds can repeat the run.
func (g *givenFaults) generator(cmd *cobra.Command, s nemesis.Setting, b runner.Backend) (*nemesis.Generator, error) {
	if !cmd.Flags().Changed("faults") {
		if cmd.Flags().Changed("most") {
			return nil, errors.New("--most needs --faults")
		}
		return nil, nil
	}
	weights, err := nemesis.ParseWeights(g.kinds)
	if err == nil {
		weights, err = weights.Only(s, b.Ability)
	}
	if err != nil {
		return nil, fmt.Errorf("--faults %q: %w", g.kinds, err)
	}
	if g.most < 1 || g.most > nemesis.MostFaults {
		return nil, fmt.Errorf("--most %d: want 1 to %d", g.most, nemesis.MostFaults)
	}
	return &nemesis.Generator{Faults: weights, Most: g.most}, nil
}

// givenWords returns the flags that were given on the command line as words that give them again, for
// which keep returns true.
func givenWords(set *pflag.FlagSet, keep func(name string) bool) (words []string) {
	set.Visit(func(f *pflag.Flag) {
		if !keep(f.Name) {
			return
		}
		for _, value := range flagValues(f) {
			switch {
			case f.Value.Type() != "bool":
				words = append(words, "--"+f.Name, value)
			case value == "true":
				words = append(words, "--"+f.Name)
			default:
				words = append(words, "--"+f.Name+"="+value)
			}
		}
	})
	return words
}

// flagValues returns the values to give a flag, one after another. A list prints itself between brackets,
// which it does not accept.
func flagValues(f *pflag.Flag) []string {
	text := f.Value.String()
	switch f.Value.Type() {
	case "stringArray":
		return f.Value.(pflag.SliceValue).GetSlice()
	case "stringSlice", "stringToString":
		text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	}
	return []string{text}
}

// isEmptyList reports whether a list was given with nothing in it.
func isEmptyList(set *pflag.FlagSet, name string) bool {
	list, is := set.Lookup(name).Value.(pflag.SliceValue)
	return is && set.Changed(name) && len(list.GetSlice()) == 0
}

// but returns a function for [givenWords] that keeps all flags except these.
func but(names ...string) func(name string) bool {
	return func(name string) bool { return !slices.Contains(names, name) }
}

// tail returns words as they stand behind others in a command line.
func tail(words []string) (text string) {
	for _, w := range words {
		text += " " + textfmt.Quoted(w)
	}
	return text
}

// parallelFlag declares --parallel.
func parallelFlag(cmd *cobra.Command, into *int) {
	cmd.Flags().IntVar(into, "parallel", 0, "runs at a time (default: one for each core; fewer on real servers)")
}

// colourFlag is the name of the flag for colours, spelt as other programs spell it.
const colourFlag = "color"

// colour applies the flag for colours to the output.
func colour(cmd *cobra.Command) error {
	text, err := cmd.Flags().GetString(colourFlag)
	if err != nil {
		return err
	}
	when, err := terminal.ParseWhen(text)
	if err != nil {
		return fmt.Errorf("--%s %w", colourFlag, err)
	}
	if out, is := cmd.OutOrStdout().(*terminal.Output); is {
		out.Coloured(when)
	}
	return nil
}

func texts[T ~string](all []T) (list []string) {
	for _, one := range all {
		list = append(list, string(one))
	}
	return list
}
