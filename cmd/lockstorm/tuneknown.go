package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/internal/tune"
	"github.com/lockstorm/lockstorm/nemesis"
)

// knownFlag is a flag of tune that says one thing of a question.
type knownFlag struct {
	name, usage string
	set         func(q *tune.Question, text string) error
}

// knownList is all of them. Where a thing has several forms, one by a flag takes the place of
// another in the file.
var knownList = []knownFlag{
	{"nodes", "`number` of nodes (default 5)", wholeNumber(func(q *tune.Question, n int) { q.Nodes = n })},
	{"round-trip", "`distribution` of a node's round trip", aDistribution(func(q *tune.Question) *nemesis.Distribution { return &q.RoundTrip })},
	{"round-trip-samples", "`file` with samples of round trips", func(q *tune.Question, path string) (err error) {
		q.RoundTrip = nemesis.Distribution{}
		q.RoundTrip.Samples, err = tune.ReadSamples(path)
		return err
	}},
	{"clock-ppm", "bound of clock rates, in `ppm`", wholeNumber(func(q *tune.Question, n int) { q.Clocks.RatePPM = int64(n) })},
	{"largest-step", "largest `step` of a node's wall clock", aDuration(func(q *tune.Question, d time.Duration) { q.Clocks.LargestStep = d })},
	{"pause-every", "mean `time` between two pauses of a client", aDuration(func(q *tune.Question, d time.Duration) { q.Pauses.Every = d })},
	{"pause-length", "`distribution` of the length of a pause", func(q *tune.Question, text string) error {
		d, err := tune.ParseDistribution(text)
		q.Pauses = tune.Pauses{Every: q.Pauses.Every, Length: &d}
		return err
	}},
	{"pause-bound", "`time` that all pauses of a hold together do not exceed", aDuration(func(q *tune.Question, d time.Duration) { q.Pauses = tune.Pauses{Bound: &d} })},
	{"pauses-unbounded", "`true`: nothing is known of pauses", trueOrFalse(func(q *tune.Question, is bool) { q.Pauses = tune.Pauses{Unbounded: is} })},
	{"node-crash-every", "mean `time` between two crashes of a node", aDuration(func(q *tune.Question, d time.Duration) { q.Crashes.NodeEvery = d })},
	{"client-crash-every", "mean `time` between two deaths of a client", aDuration(func(q *tune.Question, d time.Duration) { q.Crashes.ClientEvery = d })},
	{"restart-delay", "`time` that a crashed node stays away, where it cannot be chosen", aDuration(func(q *tune.Question, d time.Duration) { q.Crashes.RestartDelay = &d })},
	{"persistence", "what nodes keep: none, aof-everysec or aof-always", func(q *tune.Question, text string) error {
		q.Crashes.Persistence = nemesis.Persistence(text)
		return nil
	}},
	{"hold", "`distribution` of how long the lock is kept", aDistribution(func(q *tune.Question) *nemesis.Distribution { return &q.Hold })},
	{"clients", "`number` of clients that want the same lock (default 1)", wholeNumber(func(q *tune.Question, n int) { q.Contention.Clients = n })},
	{"think", "`distribution` of how long a client does without the lock between two holds", aDistribution(func(q *tune.Question) *nemesis.Distribution { return &q.Contention.Think })},
	{"fence", "`true`: the resource checks fences on reads and writes", trueOrFalse(func(q *tune.Question, is bool) { q.FenceChecked = is })},
	{"longest-ttl", "longest `TTL` that is acceptable (default 10m)", aDuration(func(q *tune.Question, d time.Duration) { q.LongestTTL = d })},
	{"no-extension", "`true`: holds cannot be extended", trueOrFalse(func(q *tune.Question, is bool) { q.NoExtension = is })},
	{"availability", "wanted: `share` of the time in which the lock can be had, as in 0.999", aNumber(func(q *tune.Question, v float64) { q.Want.Availability = v })},
	{"acquire-p99", "wanted: `time` within which 99 of 100 grants come, once the lock is free", aDuration(func(q *tune.Question, d time.Duration) { q.Want.AcquireP99 = d })},
	{"violations", "wanted: at most so `many` violations in 10⁹ grants", aNumber(func(q *tune.Question, v float64) { q.Want.ViolationsPerBillion = &v })},
}

// knownChoice is what the flags say.
type knownChoice struct {
	set   *pflag.FlagSet
	texts map[string]*string
}

func knownFlags(set *pflag.FlagSet) knownChoice {
	c := knownChoice{set, map[string]*string{}}
	for _, f := range knownList {
		c.texts[f.name] = set.String(f.name, "", f.usage)
	}
	return c
}

// question is that of the file, if one is named, with what the flags say.
func (c knownChoice) question(files []string) (q tune.Question, err error) {
	q.Nodes, q.Contention.Clients = 5, 1
	if len(files) > 0 {
		if q, err = tune.Load(files[0]); err != nil {
			return q, err
		}
	}
	if err := c.alternatives(); err != nil {
		return q, err
	}
	for _, f := range knownList {
		if !c.set.Changed(f.name) {
			continue
		}
		if err := f.set(&q, *c.texts[f.name]); err != nil {
			return q, fmt.Errorf("--%s: %w", f.name, err)
		}
	}
	return q, nil
}

// alternatives are flags of which one takes the place of the other.
func (c knownChoice) alternatives() error {
	for _, pair := range [][2]string{
		{"round-trip", "round-trip-samples"}, {"measure", "round-trip"}, {"measure", "round-trip-samples"},
		{"pause-length", "pause-bound"}, {"pause-every", "pause-bound"},
		{"pause-length", "pauses-unbounded"}, {"pause-every", "pauses-unbounded"}, {"pause-bound", "pauses-unbounded"},
	} {
		if c.set.Changed(pair[0]) && c.set.Changed(pair[1]) {
			return fmt.Errorf("--%s and --%s: want one of them", pair[0], pair[1])
		}
	}
	return nil
}

func aDuration(set func(*tune.Question, time.Duration)) func(*tune.Question, string) error {
	return parsed(time.ParseDuration, "%q is not a duration: want one as in 1.5s", set)
}

func wholeNumber(set func(*tune.Question, int)) func(*tune.Question, string) error {
	return parsed(strconv.Atoi, "%q is not a whole number", set)
}

func aNumber(set func(*tune.Question, float64)) func(*tune.Question, string) error {
	return parsed(func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }, "%q is not a number", set)
}

func trueOrFalse(set func(*tune.Question, bool)) func(*tune.Question, string) error {
	return parsed(strconv.ParseBool, "%q is neither true nor false", set)
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
