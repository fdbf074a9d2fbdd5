package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/tune"
	"github.com/lockstorm/lockstorm/nemesis"
)

// tuneOptions are the flags of tune about its work.
type tuneOptions struct {
	runs     int
	most     int // requests
	seed     uint64
	estimate bool
	asJSON   bool
	out      string
	report   reportFile
}

func newTune() *cobra.Command {
	var o tuneOptions
	var measure measuring
	cmd := &cobra.Command{
		Use:   "tune [FILE]",
		Short: "Recommend TTL, drift allowance and delays for your nodes, clocks, clients and goals",
		Long: `Recommend TTL, drift factor, node timeout, retry delay, extension interval and restart
delay. Describe your nodes, clocks and clients, and your goals, in a YAML file or by
flags; a flag overrides the file. Omitted facts are treated as unknown, omitted goals
are ignored.

The advice lists the assumption behind each figure and how certain it is, and the
Pareto-optimal alternatives; or the reason why no setting meets the goals. Simulated
runs, with other seeds than those that selected it, validate the recommended setting;
the advice says if they did not, or not in full. After Ctrl-C it is what the model
recommends. "go doc ./internal/tune" explains the calculation.

Violations in 10⁹ grants are reckoned, because so few runs cannot measure them. With
--estimate multilevel splitting also estimates how many of the longest holds are late
because of pauses ("lockstorm rare" explains it), and the advice says whether the two agree.

A distribution is {min: 1ms, max: 5ms} (uniform; as a flag also 1ms..5ms or 500us),
{max: 5ms, log_normal: {median: 500us, sigma: 0.4}}, {max: 2s, pareto: {scale: 5ms,
alpha: 2}}, or {samples_from: FILE} with one duration per line (1.2ms, or a number of
milliseconds). For pauses, max states that no pause is longer. --measure measures round
trips: it sends PING at a low rate, and nothing else except the commands that open a
connection (HELLO, AUTH, SELECT).

Exit codes: 0 a setting is recommended; 1 no setting meets the goals; 2 bad usage or
input, or goals that contradict the facts; 3 interrupted.`,
		Example: `  lockstorm tune service.yaml
  lockstorm tune --round-trip '{max: 20ms, log_normal: {median: 500us, sigma: 0.4}}' \
    --clock-ppm 500 --pause-bound 50ms --hold 20ms..500ms --clients 8 --think 1s..5s \
    --violations 1 --acquire-p99 100ms
  lockstorm tune service.yaml --measure r1:6379,r2:6379,r3:6379 --out advice`,
		Args: takes(0, 1),
	}
	known := knownFlags(cmd.Flags())
	measure.flags(cmd.Flags())
	cmd.Flags().IntVar(&o.runs, "runs", 500, "runs of each trial that validates a setting")
	cmd.Flags().IntVar(&o.most, "max-requests", tune.DefaultMaxRequests, "maximum number of simulated requests of a trial, about: with long holds there are fewer runs, or none")
	cmd.Flags().Uint64Var(&o.seed, "seed", 1, "seed; the same seed gives the same advice")
	cmd.Flags().BoolVar(&o.estimate, "estimate", false, "also estimate from runs how many holds are late, beside the model's figure (minutes)")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print the advice as JSON, and nothing else")
	cmd.Flags().StringVar(&o.out, "out", "", "new or empty `directory` for tune.json, front.csv, a picture of the alternatives, the scenarios of the validation and two for real servers")
	o.report.flag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := measure.asked(cmd.Flags()); err != nil {
			return err
		}
		if o.runs < 1 {
			return fmt.Errorf("--runs %d: want at least 1", o.runs)
		}
		if o.most < 1 {
			return fmt.Errorf("--max-requests %d: want at least 1", o.most)
		}
		q, err := known.question(args)
		if err != nil {
			return err
		}
		if err := cmp.Or(checkFree(o.out), writableDir("--out", o.out), o.report.check("report")); err != nil {
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
		Backend: simulated.Backend(), Runs: o.runs, MaxRequests: o.most, Seed: o.seed, Estimate: o.estimate,
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
	a.Program = thisProgram()
	stopped := ctx.Err() != nil && errors.Is(err, ctx.Err()) && a.Recommended != nil
	if err != nil && !stopped {
		return a, err
	}
	var unstored error
	if o.out != "" && !stopped {
		if err := storeAdvice(o.out, a); err != nil {
			unstored, o.out = fmt.Errorf("--out: %w", err), ""
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
	switch {
	case unstored != nil: // after the advice, which is worth minutes
		return a, unstored
	case stopped:
		return a, verdictError(exitUndecided)
	case a.Refusal != "":
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
		return fmt.Errorf("--out %s: %w", dir, bare(err))
	case len(entries) > 0:
		return fmt.Errorf("--out %s: not empty; nothing is overwritten", dir)
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
	{"clock-ppm", "largest clock rate error, in `ppm`", wholeNumber(func(q *tune.Question, n int) { q.Clocks.RatePPM = int64(n) })},
	{"largest-step", "largest `step` of a node's wall clock", aDuration(func(q *tune.Question, d time.Duration) { q.Clocks.LargestStep = d })},
	{"pause-every", "mean `time` between two pauses of a client", aDuration(func(q *tune.Question, d time.Duration) { q.Pauses.Every = d })},
	{"pause-length", "`distribution` of the length of a pause", func(q *tune.Question, text string) error {
		d, err := tune.ParseDistribution(text)
		q.Pauses = tune.Pauses{Every: q.Pauses.Every, Length: &d}
		return err
	}},
	{"pause-bound", "largest total `time` of all pauses during one hold", aDuration(func(q *tune.Question, d time.Duration) { q.Pauses = tune.Pauses{Bound: &d} })},
	{"pauses-unbounded", "`true`: pauses have no known bound", trueOrFalse(func(q *tune.Question, is bool) { q.Pauses = tune.Pauses{Unbounded: is} })},
	{"node-crash-every", "mean `time` between two crashes of a node", aDuration(func(q *tune.Question, d time.Duration) { q.Crashes.NodeEvery = d })},
	{"client-crash-every", "mean `time` between two crashes of a client", aDuration(func(q *tune.Question, d time.Duration) { q.Crashes.ClientEvery = d })},
	{"restart-delay", "fixed `time` until a crashed node restarts, if you cannot choose it", aDuration(func(q *tune.Question, d time.Duration) { q.Crashes.RestartDelay = &d })},
	{"persistence", "persistence of the nodes: none, aof-everysec or aof-always", func(q *tune.Question, text string) error {
		q.Crashes.Persistence = nemesis.Persistence(text)
		return nil
	}},
	{"hold", "`distribution` of the time for which a client holds the lock", aDistribution(func(q *tune.Question) *nemesis.Distribution { return &q.Hold })},
	{"clients", "`number` of clients that want the same lock (default 1)", wholeNumber(func(q *tune.Question, n int) { q.Contention.Clients = n })},
	{"think", "`distribution` of the time between two holds of a client", aDistribution(func(q *tune.Question) *nemesis.Distribution { return &q.Contention.Think })},
	{"fence", "`true`: the resource checks fences on reads and writes", trueOrFalse(func(q *tune.Question, is bool) { q.FenceChecked = is })},
	{"ttl", "the only `TTL` to weigh, if you cannot choose it", aDuration(func(q *tune.Question, d time.Duration) { q.TTL = d })},
	{"longest-ttl", "longest acceptable `TTL` (default 10m)", aDuration(func(q *tune.Question, d time.Duration) { q.LongestTTL = d })},
	{"no-extension", "`true`: holds cannot be extended", trueOrFalse(func(q *tune.Question, is bool) { q.NoExtension = is })},
	{"availability", "goal: `share` of the time in which the lock is available, such as 0.999", aNumber(func(q *tune.Question, v float64) { q.Want.Availability = v })},
	{"acquire-p99", "goal: 99th percentile of the `time` to acquire a free lock", aDuration(func(q *tune.Question, d time.Duration) { q.Want.AcquireP99 = d })},
	{"violations", "goal: largest `number` of violations per 10⁹ grants", aNumber(func(q *tune.Question, v float64) { q.Want.ViolationsPerBillion = &v })},
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
	q = tune.Usual()
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
