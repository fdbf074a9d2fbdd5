package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/tune"
	"github.com/lockstorm/lockstorm/nemesis"
)

// fact is a fact or a goal that tune accepts as NAME=VALUE.
type fact struct {
	name, what string
	set        func(q *tune.Question, text string) error
}

// facts lists them. Of alternative fields, one given as NAME=VALUE replaces another in a file.
var facts = []fact{
	{"nodes", "number of nodes (default 5)", wholeNumber(func(q *tune.Question, n int) { q.Nodes = n })},
	{"round-trip", "distribution of a node's round trip", aDistribution(func(q *tune.Question) *nemesis.Distribution { return &q.RoundTrip })},
	{"clock-ppm", "largest clock rate error, in ppm", wholeNumber(func(q *tune.Question, n int) { q.Clocks.RatePPM = int64(n) })},
	{"largest-step", "largest step of a node's wall clock", aDuration(func(q *tune.Question, d time.Duration) { q.Clocks.LargestStep = d })},
	{"pause-every", "mean time between two pauses of a client", aDuration(func(q *tune.Question, d time.Duration) { q.Pauses.Every = d })},
	{"pause-length", "distribution of the length of a pause", func(q *tune.Question, text string) error {
		d, err := tune.ParseDistribution(text)
		q.Pauses = tune.Pauses{Every: q.Pauses.Every, Length: &d}
		return err
	}},
	{"pause-bound", "largest total time of all pauses during one hold", aDuration(func(q *tune.Question, d time.Duration) { q.Pauses = tune.Pauses{Bound: &d} })},
	{"pauses-unbounded", "true: pauses have no known bound", trueOrFalse(func(q *tune.Question, is bool) { q.Pauses = tune.Pauses{Unbounded: is} })},
	{"node-crash-every", "mean time between two crashes of a node", aDuration(func(q *tune.Question, d time.Duration) { q.Crashes.NodeEvery = d })},
	{"client-crash-every", "mean time between two crashes of a client", aDuration(func(q *tune.Question, d time.Duration) { q.Crashes.ClientEvery = d })},
	{"restart-delay", "fixed time until a crashed node restarts, if you cannot choose it", aDuration(func(q *tune.Question, d time.Duration) { q.Crashes.RestartDelay = &d })},
	{"persistence", "persistence of the nodes: none, aof-everysec or aof-always", func(q *tune.Question, text string) error {
		q.Crashes.Persistence = nemesis.Persistence(text)
		return nil
	}},
	{"hold", "distribution of the time for which a client holds the lock", aDistribution(func(q *tune.Question) *nemesis.Distribution { return &q.Hold })},
	{"clients", "number of clients that want the same lock (default 1)", wholeNumber(func(q *tune.Question, n int) { q.Contention.Clients = n })},
	{"think", "distribution of the time between two holds of a client", aDistribution(func(q *tune.Question) *nemesis.Distribution { return &q.Contention.Think })},
	{"fence", "true: the resource checks fences on reads and writes", trueOrFalse(func(q *tune.Question, is bool) { q.FenceChecked = is })},
	{"ttl", "the only TTL to weigh, if you cannot choose it", aDuration(func(q *tune.Question, d time.Duration) { q.TTL = d })},
	{"longest-ttl", "longest acceptable TTL (default 10m)", aDuration(func(q *tune.Question, d time.Duration) { q.LongestTTL = d })},
	{"no-extension", "true: holds cannot be extended", trueOrFalse(func(q *tune.Question, is bool) { q.NoExtension = is })},
	{"availability", "goal: share of the time in which the lock is available, such as 0.999", aNumber(func(q *tune.Question, v float64) { q.Want.Availability = v })},
	{"acquire-p99", "goal: 99th percentile of the time to acquire a free lock", aDuration(func(q *tune.Question, d time.Duration) { q.Want.AcquireP99 = d })},
	{"violations", "goal: largest number of violations per 10⁹ grants", aNumber(func(q *tune.Question, v float64) { q.Want.ViolationsPerBillion = &v })},
}

// factWord is an argument that is a fact; ./a=b is a file.
var factWord = regexp.MustCompile(`^([a-z][a-z0-9_-]*)=(.*)$`)

// question returns the question that files and facts ask, in any order; of two equal names the later counts.
func question(args []string) (tune.Question, error) {
	var files []string
	given := map[string]string{}
	for _, arg := range args {
		word := factWord.FindStringSubmatch(arg)
		switch {
		case word == nil && slices.Contains(factNames(), arg):
			return tune.Question{}, fmt.Errorf("%s: want %s=VALUE", arg, arg)
		case word == nil:
			files = append(files, arg)
			continue
		}
		name := word[1]
		if !slices.ContainsFunc(facts, func(f fact) bool { return f.name == name }) {
			return tune.Question{}, &textfmt.UnknownError{What: "fact", Name: name, Known: factNames()}
		}
		given[name] = word[2]
	}
	for _, pair := range alternatives {
		if _, first := given[pair[0]]; first {
			if _, second := given[pair[1]]; second {
				return tune.Question{}, fmt.Errorf("%s and %s: want one of them", pair[0], pair[1])
			}
		}
	}
	q, err := tune.Load(files...)
	if err != nil {
		return q, err
	}
	for _, f := range facts {
		if text, is := given[f.name]; is {
			if err := f.set(&q, text); err != nil {
				return q, fmt.Errorf("%s: %w", f.name, err)
			}
		}
	}
	return q, nil
}

// alternatives are facts that exclude each other.
var alternatives = [][2]string{
	{"pause-length", "pause-bound"}, {"pause-every", "pause-bound"},
	{"pause-length", "pauses-unbounded"}, {"pause-every", "pauses-unbounded"}, {"pause-bound", "pauses-unbounded"},
}

func factNames() (names []string) {
	for _, f := range facts {
		names = append(names, f.name)
	}
	return names
}

// factsHelp lists the facts for the help of the command.
func factsHelp() string {
	var b strings.Builder
	for _, f := range facts {
		fmt.Fprintf(&b, "  %-19s %s\n", f.name, f.what)
	}
	return b.String()
}

// factsAndFiles completes names of facts, and values where they are few; otherwise files.
func factsAndFiles(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if name, _, valued := strings.Cut(begun, "="); valued {
		var all []cobra.Completion
		for _, value := range factValues[name] {
			all = append(all, name+"="+value)
		}
		return beginning(all, begun), cobra.ShellCompDirectiveNoFileComp
	}
	var all []cobra.Completion
	for _, f := range facts {
		all = append(all, cobra.CompletionWithDesc(f.name+"=", f.what))
	}
	return beginning(all, begun), cobra.ShellCompDirectiveNoSpace
}

// factValues are the values of facts that have few.
var factValues = map[string][]string{
	"persistence": texts(nemesis.Persistences), "pauses-unbounded": {"true", "false"},
	"fence": {"true", "false"}, "no-extension": {"true", "false"},
}

func aDuration(set func(*tune.Question, time.Duration)) func(*tune.Question, string) error {
	return func(q *tune.Question, text string) error {
		d, err := parseDuration(text)
		if err == nil {
			set(q, d)
		}
		return err
	}
}

func wholeNumber(set func(*tune.Question, int)) func(*tune.Question, string) error {
	return parsed(strconv.Atoi, "%q is not a whole number", set)
}

func aNumber(set func(*tune.Question, float64)) func(*tune.Question, string) error {
	return parsed(func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }, "%q is not a number", set)
}

func trueOrFalse(set func(*tune.Question, bool)) func(*tune.Question, string) error {
	return parsed(strconv.ParseBool, "%q: want true or false", set)
}

func parsed[T any](parse func(string) (T, error), complaint string, set func(*tune.Question, T)) func(*tune.Question, string) error {
	return func(q *tune.Question, text string) error {
		v, err := parse(text)
		if err != nil {
			return fmt.Errorf(complaint, text)
		}
		set(q, v)
		return nil
	}
}

func aDistribution(of func(*tune.Question) *nemesis.Distribution) func(*tune.Question, string) error {
	return func(q *tune.Question, text string) error {
		d, err := tune.ParseDistribution(text)
		*of(q) = d
		return err
	}
}
