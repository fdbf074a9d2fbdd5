package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/servers/preflight"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/tune"
	"github.com/lockstorm/lockstorm/nemesis"
)

// tuneOptions are the flags of tune about its work.
type tuneOptions struct {
	runs   int
	seed   uint64
	asJSON bool
	out    string
	report reportFile
}

func newTune() *cobra.Command {
	var o tuneOptions
	var measure measuring
	cmd := &cobra.Command{
		Use:   "tune [FILE]",
		Short: "Recommend settings for what is known of nodes, clocks and clients, and for what is wanted",
		Long: `Recommend TTL, drift factor, node timeout, retry delay, extension interval and
restart delay for what is known (in a YAML file, or by flags, which count before it)
and for what is wanted. It tells which assumption each figure rests on and how sure it
is, and the settings among which there is a choice; or why no setting meets the wish.
What it recommends has been validated by runs in the simulator with other seeds than
those that chose it. How it reckons says "go doc ./internal/tune".

A distribution is {min: 1ms, max: 5ms} (uniform; for a flag 1ms..5ms or 500us, too),
{max: 5ms, log_normal: {median: 500us, sigma: 0.4}}, {max: 2s, pareto: {scale: 5ms,
alpha: 2}}, or {samples_from: FILE}: one duration a line, as in 1.2ms, or a number of
milliseconds; of samples of pauses max says that none is longer. With --measure round
trips are measured: each server is asked PING, at a gentle pace, and nothing else (but
HELLO and what a connection may need beside it: AUTH, SELECT).

Exit codes: 0 a setting is recommended; 1 none meets the wish; 2 bad usage or input,
or wishes that contradict what is known; 3 interrupted.`,
		Example: `  lockstorm tune service.yaml
  lockstorm tune --round-trip '{max: 20ms, log_normal: {median: 500us, sigma: 0.4}}' \
    --clock-ppm 500 --pause-bound 50ms --hold 20ms..500ms --clients 8 --think 1s..5s \
    --violations 1 --acquire-p99 100ms
  lockstorm tune service.yaml --measure r1:6379,r2:6379,r3:6379 --out advice`,
		Args: cobra.MaximumNArgs(1),
	}
	known := knownFlags(cmd.Flags())
	measure.flags(cmd.Flags())
	cmd.Flags().IntVar(&o.runs, "runs", 500, "number of runs of each trial that validates a setting")
	cmd.Flags().Uint64Var(&o.seed, "seed", 1, "seed; the same one gives the same advice")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print the advice as JSON, and nothing else")
	cmd.Flags().StringVar(&o.out, "out", "", "`directory`, new or empty, that gets tune.json, front.csv, a picture of the choice and the scenarios of the validation")
	o.report.flag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := measure.asked(cmd.Flags()); err != nil {
			return err
		}
		if o.runs < 1 {
			return fmt.Errorf("--runs %d: want at least 1", o.runs)
		}
		q, err := known.question(args)
		if err != nil {
			return err
		}
		if err := cmp.Or(checkFree(o.out), o.report.check("report")); err != nil {
			return err
		}
		if err := measure.into(cmd.Context(), &q, cmd.ErrOrStderr()); err != nil {
			return err
		}
		if err := q.Validate(); err != nil {
			return err
		}
		a, err := o.advise(cmd.Context(), q, cmd.OutOrStdout(), cmd.ErrOrStderr())
		return o.report.after(cmd, err, "advice", func(_ context.Context, r *report.Report) error { return r.Advice(a) })
	}
	return cmd
}

// advise finds the advice, stores it, prints it and returns it.
func (o tuneOptions) advise(ctx context.Context, q tune.Question, out, problems io.Writer) (tune.Advice, error) {
	line := terminal.NewBar(problems, "choosing", int64(o.runs), terminal.Pieces)
	defer line.Done()
	before, last := 0, "" // runs of what was done before the last
	a, err := tune.Advise(ctx, q, tune.Options{
		Backend: simulated.Backend(), Runs: o.runs, Seed: o.seed,
		Progress: func(what string, runs, done int) {
			if what != last {
				line.Call("%s", what)
				last = what
			}
			line.At(before+done, before+runs)
			if done == runs {
				before, last = before+runs, ""
			}
		},
	})
	line.Done()
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) && a.WeighedSettings > 0 && !o.asJSON {
		terminal.Fit(out)
		printUnfinished(out, a)
		return a, verdictError(exitUndecided)
	}
	if err != nil {
		return a, err
	}
	if o.out != "" {
		if err := storeAdvice(o.out, a); err != nil {
			return a, fmt.Errorf("--out: %w", err)
		}
	}
	if o.asJSON {
		if err := writeJSON(out, a); err != nil {
			return a, err
		}
	} else {
		terminal.Fit(out)
		printTuning(out, a, o)
	}
	if a.Refusal != "" {
		return a, verdictError(exitContradiction)
	}
	return a, nil
}

func writeJSON(out io.Writer, value any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// checkFree returns an error if files in the directory would be overwritten.
func checkFree(dir string) error {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--out: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("--out %s: there is something in it, and nothing is written over", dir)
	}
	return nil
}

// knownFlag is a flag of tune for one field of a question.
type knownFlag struct {
	name, usage string
	set         func(q *tune.Question, text string) error
}

// knownList lists them. Of alternative fields, one given by a flag replaces another in the file.
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

// knownChoice is the values of these flags.
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

// question returns the question in the file, if there is one, with the flags applied.
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

// alternatives are flags that replace each other.
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

// measuring is the flags of tune for measuring round trips.
type measuring struct {
	addrs   []string
	samples int
	every   time.Duration
	connect addrChoice
	own     []string // the flags that say how
}

func (m *measuring) flags(set *pflag.FlagSet) {
	set.StringSliceVar(&m.addrs, "measure", nil, "measure round trips to these servers, `host:port` of each, with commas between: by PING alone")
	set.IntVar(&m.samples, "samples", 200, "with --measure: `number` of times that each server is asked")
	set.DurationVar(&m.every, "every", 50*time.Millisecond, "with --measure: `time` between two questions to a server, at least 1ms")
	own := pflag.NewFlagSet("measure", pflag.ContinueOnError)
	m.connect.connectFlags(own)
	m.own = []string{"samples", "every"}
	own.VisitAll(func(f *pflag.Flag) {
		f.Usage = "with --measure: " + f.Usage
		m.own = append(m.own, f.Name)
	})
	set.AddFlagSet(own)
}

// asked returns an error for flags about measuring if nothing is to be measured.
func (m *measuring) asked(set *pflag.FlagSet) error {
	if set.Changed("measure") {
		return nil
	}
	for _, name := range m.own {
		if set.Changed(name) {
			return fmt.Errorf("--%s is for --measure, which names no server", name)
		}
	}
	return nil
}

// into measures the servers, if any are named, and puts the result into the question in place of its
// round trips.
func (m *measuring) into(ctx context.Context, q *tune.Question, out io.Writer) error {
	if len(m.addrs) == 0 {
		return nil
	}
	if err := checkAddrs("measure", m.addrs); err != nil {
		return err
	}
	switch {
	case m.samples < 1:
		return fmt.Errorf("--samples %d: want at least 1", m.samples)
	case m.every < time.Millisecond:
		return fmt.Errorf("--every %v: want at least 1ms, so that nobody is disturbed", m.every)
	}
	connect, err := m.connect.connect()
	if err != nil {
		return err
	}
	bar := terminal.NewBar(out, "measuring", int64(m.samples*len(m.addrs)), terminal.Pieces)
	times, err := preflight.RoundTrips(ctx, m.addrs, connect, preflight.SamplingOptions{Samples: m.samples, Every: m.every, Asked: bar.Step})
	bar.Done()
	if err != nil {
		return advised(err)
	}
	var all []time.Duration
	for i, of := range times {
		printQuantiles(out, m.addrs[i], of)
		all = append(all, of...)
	}
	if len(times) > 1 {
		printQuantiles(out, "all", all)
	}
	_, _ = fmt.Fprintln(out, "that is how long they took now, from here; what is rarer, or comes at other hours, is not in it")
	if len(m.addrs) != q.Nodes {
		_, _ = fmt.Fprintf(out, "%s measured, and the advice is for %s (nodes)\n", textfmt.Count(len(m.addrs), "server"), textfmt.Count(q.Nodes, "node"))
	}
	q.RoundTrip = nemesis.Distribution{Samples: all}
	return nil
}

func printQuantiles(out io.Writer, name string, times []time.Duration) {
	times = slices.Sorted(slices.Values(times))
	at := func(perMille int) string { return textfmt.Duration(times[(len(times)-1)*perMille/1000]) }
	_, _ = fmt.Fprintf(out, "%s: %s, least %s, p50 %s, p90 %s, p99 %s, most %s\n",
		name, textfmt.Count(len(times), "sample"), at(0), at(500), at(900), at(990), at(1000))
}
