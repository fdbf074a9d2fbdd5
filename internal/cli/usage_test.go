package cli

import (
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// sampleValues has a value for each type of flag that is the default of none.
var sampleValues = map[string]string{
	"int": "17", "uint64": "17", "duration": "17s", "bool": "true", "string": "a b", "stringSlice": "a,b c", "stringArray": "a=1,2",
	"numbers": "1,7", "stringToString": "tick=5ms",
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
	set.Bool("off", true, "")
	if err := set.Parse([]string{"--vary", "lock.ttl=1s,2s", "--off=false", "--vary", "lock.kind=redlock", "--runs=5"}); err != nil {
		t.Fatal(err)
	}
	wanted := []string{"--off=false", "--runs", "5", "--vary", "lock.ttl=1s,2s", "--vary", "lock.kind=redlock"}
	if got := givenWords(set, but()); !slices.Equal(got, wanted) {
		t.Errorf("%q, want %q", got, wanted)
	}
}

// Law: no error prints the password of an address, wherever that was given.
func TestErrorsHidePasswords(t *testing.T) {
	elsewhere(t)
	for _, verb := range []string{"tune", "run", "check", "debate", "list", "redis://user:SECRET@h:6379"} {
		code, out, problems := command(t, verb, "redis://user:SECRET@h:6379")
		if code != exitBadInput || strings.Contains(out+problems, "SECRET") || !strings.Contains(problems, "…@h:6379") {
			t.Errorf("%v: exit code %d, printed %q and %q", verb, code, out, problems)
		}
	}
}

// Law: what a terminal obeys is printed as escapes, such as the end of a program's standard error.
func TestErrorsAreShownAndNotObeyed(t *testing.T) {
	var out strings.Builder
	complain(&out, errors.New("a:\n\x1b[2J\x1b]0;title\x07b\r\u202ec\xff…"))
	if want := `lockstorm: a: \x1b[2J\x1b]0;title\ab\r\u202ec\xff…` + "\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

// Law: the program has at most 15 verbs, at most 130 flags, and no flag with two meanings: one name has one type.
func TestFlagsAreFew(t *testing.T) {
	count, types := 0, map[string]string{}
	verbs := newRoot().Commands()
	for _, c := range verbs {
		if c.GroupID == "" {
			continue
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			count++
			kind := strings.TrimSuffix(f.Value.Type(), "Slice") // one, or several
			if was := types[f.Name]; was != "" && was != kind {
				t.Errorf("%s --%s: a %s, and elsewhere a %s", c.Name(), f.Name, kind, was)
			}
			types[f.Name] = kind
		})
	}
	if n := len(verbs) - len([]string{"help", "completion"}); n > 15 || count < 100 || count > 130 {
		t.Errorf("%d verbs with %d flags", n, count)
	}
}

// Law: what is stored names a program that was built with a version, and has the same bytes as ever if it was
// built without one.
func TestStoredVersions(t *testing.T) {
	built := map[string]string{"go": "go1", runner.ProgramVersion: "v1.2.0", runner.ProgramRevision: "3f2a"}
	want(t, "program", runner.Program(lasting(maps.Clone(built))), "v1.2.0, revision 3f2a")
	plain := lasting(map[string]string{"go": "go1", runner.ProgramVersion: "(devel)"})
	if !maps.Equal(plain, map[string]string{"go": "go1", "arch": runtime.GOARCH}) {
		t.Errorf("a program without a version stores %v", plain)
	}
	code, out, _ := command(t, "--version")
	want(t, "exit code", code, exitAsExpected)
	wantMatch(t, out, `^lockstorm \S+\n(lockstorm revision \S+\nlockstorm date \S+\n)?go go1\.\S+\n`)
}

// Law: a backend that needs Linux is refused on another system before it does anything, but its abilities are
// known there.
func TestBackendsElsewhere(t *testing.T) {
	want(t, "what needs Linux, on Linux", supportedOn("linux", "--backend process", true), nil)
	want(t, "what needs nothing, elsewhere", supportedOn("windows", "--backend sim", false), nil)
	if err := supportedOn("darwin", "--backend process", true); err == nil || !strings.HasPrefix(err.Error(), "--backend process: needs Linux, not darwin (") {
		t.Errorf("what needs Linux, on macOS: %v", err)
	}
	for _, b := range backends {
		cmd := &cobra.Command{}
		choice := backendFlags(cmd)
		if err := cmd.Flags().Set("backend", b.Name); err != nil {
			t.Fatal(err)
		}
		if _, err := choice.able(); err != nil {
			t.Errorf("%s: its abilities: %v", b.Name, err)
		}
	}
}

// Each figure is printed if there is something to say of it.
func TestMeasurementsAreShort(t *testing.T) {
	var a runner.Aggregate
	a.Add(checker.Measurements{Work: checker.Work{Tries: 2}})
	var b strings.Builder
	printMeasured(&b, &a)
	want(t, "of a run without a grant", b.String(), "\ngrants  0 in 2 tries\n")
	a.Add(checker.Measurements{
		Work:         checker.Work{Tries: 8, Grants: 4, Requests: 50},
		Acquiring:    checker.Acquiring{AcquireP50: 1234567, AcquireP99: 2 * time.Millisecond, AcquireP999: 2 * time.Millisecond, AcquireMax: 2 * time.Millisecond},
		Outages:      checker.Outages{Wanted: time.Second, TotalOutage: 250 * time.Millisecond, LongestOutage: 200 * time.Millisecond},
		Deaths:       checker.Deaths{HolderDeaths: 3, GrantsAfterDeath: 1, NextGrantAfterDeath: 1500 * time.Millisecond},
		Waits:        checker.Waits{LongestWait: time.Second, MostPassedOver: 2},
		Rounds:       checker.Rounds{SplitRounds: 2, RoundsToFirstGrant: 3},
		Queues:       checker.Queues{Woken: 4, Herd: 2},
		Orphans:      checker.Orphans{OrphanKeys: 1},
		StaleWrites:  checker.StaleWrites{StaleApplies: 2},
		UpdateLosses: checker.UpdateLosses{Updates: 9, LostUpdates: 2},
		GrantLosses:  checker.GrantLosses{StoredGrants: 7, ForgottenGrants: 1},
		Rejections:   checker.Rejections{Rejected: 3, WronglyRejected: 1},
	})
	b.Reset()
	printMeasured(&b, &a)
	want(t, "of two runs", b.String(), `
grants           4 in 10 tries, 2.5 tries a grant, 12.5 requests a grant
time to acquire  p50 1.23ms, p99 2ms, p99.9 2ms, longest 2ms
availability     75.00 %, longest outage 200ms (median of runs 0s)
longest wait     1s, passed over by up to 2 grants
holder's death   1 of 3 followed by a grant, within 1.5s
split votes      2, first grant with try 3 at the latest, median of runs 3
woken            4 times, at most 2 clients between two grants
lost updates     2 of 9
forgotten        1 of 7 grants
also             1 orphan key, 2 stale writes, 3 rejected accesses, 1 wrongly rejected access
`)
}
