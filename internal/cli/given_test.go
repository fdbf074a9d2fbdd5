package cli

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// sampleValues has a value for each type of flag that is the default of none.
var sampleValues = map[string]string{
	"int": "17", "uint64": "17", "duration": "17s", "bool": "true", "string": "a b", "stringSlice": "a,b c", "stringArray": "a=1,2",
	"numbers": "1,7",
}

// Law: the command that repeats a run, or that shows more of an exploration, carries every flag that was
// given and changes it. A flag that is left out is named in the list of those that do not; a new flag is
// carried.
func TestPrintedCommandsCarryTheFlags(t *testing.T) {
	for name, c := range map[string]struct {
		make func() *cobra.Command
		left []string
	}{"run": {newRun, oncePerRun}, "explore": {newExplore, exploredOnce}, "test": {newTest, storedInRun}} {
		left := map[string]bool{}
		for _, l := range c.left {
			left[l] = true
			if c.make().Flags().Lookup(l) == nil && l != colourFlag {
				t.Errorf("%s: no flag --%s, which is left out of the command", name, l)
			}
		}
		c.make().Flags().VisitAll(func(f *pflag.Flag) {
			if left[f.Name] {
				return
			}
			value, ok := sampleValues[f.Value.Type()]
			if !ok {
				t.Errorf("%s --%s: no value of type %s", name, f.Name, f.Value.Type())
				return
			}
			given, again := c.make().Flags(), c.make().Flags()
			if err := given.Parse([]string{"--" + f.Name + "=" + value}); err != nil {
				t.Error(err)
			}
			words := givenWords(given, but(c.left...))
			if err := again.Parse(words); err != nil || again.NArg() > 0 {
				t.Errorf("%s: %q: %v", name, words, err)
			}
			if was, is := given.Lookup(f.Name).Value.String(), again.Lookup(f.Name).Value.String(); was != is || len(words) == 0 {
				t.Errorf("%s --%s %s is %s in %q", name, f.Name, was, is, words)
			}
		})
	}
}

// A flag that is given more than once, and one that is switched off, are given again in the same way.
func TestGivenWords(t *testing.T) {
	set := newSweep().Flags()
	if err := set.Parse([]string{"--vary", "lock.ttl=1s,2s", "--json=false", "--vary", "lock.kind=redlock", "--runs=5"}); err != nil {
		t.Fatal(err)
	}
	wanted := []string{"--json=false", "--runs", "5", "--vary", "lock.ttl=1s,2s", "--vary", "lock.kind=redlock"}
	if got := givenWords(set, but()); !slices.Equal(got, wanted) {
		t.Errorf("%q, want %q", got, wanted)
	}
}
