package tune

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Question is what an operator knows and wants.
type Question struct {
	Known `yaml:",inline"`
	Want  Wanted `yaml:"want"`
}

// Known is the known facts about nodes, network, clocks and clients.
type Known struct {
	// Nodes is the number of independent nodes.
	Nodes int `yaml:"nodes" json:"nodes" want:"1..64"`

	// RoundTrip is the time from a request to a node's reply.
	RoundTrip nemesis.Distribution `yaml:"round_trip" json:"-"`

	Clocks Clocks `yaml:"clocks" json:"clocks"`

	// Pauses are times at which clients do not run: garbage collection, scheduling, a machine
	// that is migrated. Exactly one of its forms is given.
	Pauses Pauses `yaml:"pauses" json:"-"`

	Crashes Crashes `yaml:"crashes,omitempty" json:"-"`

	// Hold is how long a client keeps the lock.
	Hold nemesis.Distribution `yaml:"hold" json:"-"`

	Contention Contention `yaml:"contention" json:"-"`

	// FenceChecked says that the resource rejects reads and writes with a fence below the
	// highest that it has seen, and that fences never go back.
	FenceChecked bool `yaml:"fence_checked,omitempty" json:"fence_checked"`

	// TTL is the only TTL to weigh, if it cannot be chosen. 0: it can.
	TTL time.Duration `yaml:"ttl,omitempty" json:"-" want:"0s.."`

	// LongestTTL is the longest acceptable TTL: how long a dead holder may block the others. 0
	// means 10 minutes, or TTL if that is given.
	LongestTTL time.Duration `yaml:"longest_ttl,omitempty" json:"-" want:"0s.."`

	// NoExtension says that holds cannot be extended.
	NoExtension bool `yaml:"no_extension,omitempty" json:"no_extension"`
}

// Clocks are the bounds of all clocks, of clients and of nodes.
type Clocks struct {
	// RatePPM is the bound of a clock's rate error, in parts per million: NTP slews by up to
	// 500, chrony by up to 83,333 by default.
	RatePPM int64 `yaml:"rate_ppm" json:"rate_ppm" want:"0..499999"`

	// LargestStep bounds the sum of the steps of a node's wall clock while a key lives.
	LargestStep time.Duration `yaml:"largest_step,omitempty" json:"largest_step" want:"0s.."`
}

// Pauses are times at which a client does not run.
type Pauses struct {
	// Every is the mean time between two pauses of a client, and Length the length of one.
	Every  time.Duration         `yaml:"every,omitempty" want:"0s.."`
	Length *nemesis.Distribution `yaml:"length,omitempty"`

	// Bound is a time that all pauses of one hold together (of one extension interval, if the
	// lock is extended) do not exceed.
	Bound *time.Duration `yaml:"bound,omitempty" want:"0s.."`

	// Unbounded says that nothing is known about pauses.
	Unbounded bool `yaml:"unbounded,omitempty"`
}

// Crashes says how often nodes and clients crash.
type Crashes struct {
	// NodeEvery is the mean time between two crashes of one node. 0: none are expected, though
	// the restart delay still covers them.
	NodeEvery time.Duration `yaml:"node_every,omitempty" want:"0s.."`

	// ClientEvery is the mean time between two crashes of one client. 0: none.
	ClientEvery time.Duration `yaml:"client_every,omitempty" want:"0s.."`

	// RestartDelay is how long a crashed node stays away at least, if that cannot be chosen.
	// Omitted: it can.
	RestartDelay *time.Duration `yaml:"restart_delay,omitempty" want:"0s.."`

	// Persistence is what nodes keep on disk. Omitted: nothing.
	Persistence nemesis.Persistence `yaml:"persistence,omitempty" want:"none|aof-everysec|aof-always"`
}

// Contention is the clients of the same lock.
type Contention struct {
	Clients int `yaml:"clients" want:"1..1000"`

	// Think is the time between two holds of a client.
	Think nemesis.Distribution `yaml:"think,omitempty"`
}

// Wanted is what is wished for. Omitted wishes are ignored.
type Wanted struct {
	// Availability is the share of the time in which the lock can be acquired: a majority of
	// the nodes is up, and no dead holder has it.
	Availability float64 `yaml:"availability,omitempty" json:"availability,omitempty" want:"0..1"`

	// AcquireP99 is the time within which 99 of 100 clients acquire a free lock.
	AcquireP99 time.Duration `yaml:"acquire_p99,omitempty" json:"acquire_p99,omitempty" want:"0s.."`

	// ViolationsPerBillion is how many of 10⁹ grants may end in a violation of effect
	// exclusion. 0 asks for none at all.
	ViolationsPerBillion *float64 `yaml:"violations_per_billion,omitempty" json:"violations_per_billion,omitempty" want:"0..1e9"`
}

// Options are the parameters of [Advise].
type Options struct {
	Backend runner.Backend // the simulator
	Runs    int            // of each trial that validates a setting, at least 1
	Seed    uint64         // the same seed gives the same advice

	maxRequests int // of a trial, about; 0 means defaultMaxRequests

	// Estimate adds an estimate of late holders by multilevel splitting: see [LateHolders]. It takes
	// minutes.
	Estimate bool

	// Progress, unless nil, is called before the first run of a trial and after each run, with
	// the name of the trial, the number of its runs and the number of those done.
	Progress func(what string, runs, done int)
}

// step returns a function that counts a run and calls Progress.
func (o Options) step(what string, runs int) func() {
	done := 0
	if o.Progress != nil {
		o.Progress(what, runs, 0)
	}
	return func() {
		if done++; o.Progress != nil {
			o.Progress(what, runs, done)
		}
	}
}

// defaultMaxRequests bounds the requests of a trial: with long holds there are fewer runs, or none. Two
// cores simulate as many in about half a minute.
const defaultMaxRequests = 20_000_000

const defaultLongestTTL = 10 * time.Minute

// longestHold bounds holds and thinking, so that runs with many of them fit into a scenario.
const longestHold = 240 * time.Hour

// Validate returns a [nemesis.FieldError] for the first value that is invalid, by itself or
// with others.
func (q Question) Validate() error {
	if err := form.Check(&q); err != nil {
		return err
	}
	if longest(q.RoundTrip) == 0 {
		return wrong("round_trip", "missing: how long a node takes to answer")
	}
	if longest(q.Hold) == 0 {
		return wrong("hold", "missing: how long a client keeps the lock")
	}
	if err := q.Pauses.validate(); err != nil {
		return form.In("pauses", err)
	}
	return q.contradiction()
}

func (p Pauses) validate() error {
	forms := 0
	for _, given := range []bool{p.Length != nil, p.Bound != nil, p.Unbounded} {
		if given {
			forms++
		}
	}
	switch {
	case forms != 1:
		return errors.New("want one of length (with every), bound, unbounded: no lease is safe without knowing how long its holder may stand still")
	case p.Length != nil && p.Every == 0:
		return wrong("every", "missing: the mean time between two pauses of a client")
	case p.Length == nil && p.Every != 0:
		return wrong("every", "pauses come that often, but how long are they? length is missing")
	}
	return nil
}

// contradiction returns an error for a wish that no setting can meet, as far as that is known
// without runs.
func (q Question) contradiction() error {
	k := q.Known
	switch least := quantile(k.RoundTrip, 0); {
	case q.Want.AcquireP99 > 0 && q.Want.AcquireP99 < least:
		return wrong("want.acquire_p99", "%v is shorter than the fastest round trip, %v", q.Want.AcquireP99, least)
	case k.TTL > 0 && k.TTL < leastTTL:
		return wrong("ttl", "%v: the shortest TTL that is weighed is %v", k.TTL, leastTTL)
	case k.TTL%time.Millisecond != 0:
		return wrong("ttl", "%v: want whole milliseconds, the unit of expiry in Redis", k.TTL)
	case k.LongestTTL > 0 && k.TTL > k.LongestTTL:
		return wrong("ttl", "%v is longer than longest_ttl, %v", k.TTL, k.LongestTTL)
	case k.LongestTTL > 0 && k.LongestTTL < leastTTL:
		return wrong("longest_ttl", "%v: the shortest TTL that is weighed is %v", k.LongestTTL, leastTTL)
	case longest(k.Hold) > longestHold:
		return wrong("hold", "up to %v: want at most %v", longest(k.Hold), longestHold)
	case longest(k.Contention.Think) > longestHold:
		return wrong("contention.think", "up to %v: want at most %v", longest(k.Contention.Think), longestHold)
	case k.NoExtension && longest(k.Hold) >= k.longestTTL():
		return wrong("hold", "up to %v does not fit into a TTL of %v at most, and holds cannot be extended", longest(k.Hold), k.longestTTL())
	case k.Clocks.LargestStep >= k.longestTTL():
		return wrong("clocks.largest_step", "a step of %v outlasts every TTL, %v at most", k.Clocks.LargestStep, k.longestTTL())
	}
	if q.Want.ViolationsPerBillion != nil && k.Pauses.Unbounded && !k.FenceChecked {
		return wrong("want.violations_per_billion", "no setting meets it: pauses are unbounded and the resource checks no fence, so however long the TTL, a holder may stand still for longer and write after it. Bound the pauses, or have the resource check fences (fence_checked)")
	}
	return nil
}

func wrong(path, format string, args ...any) error {
	return &nemesis.FieldError{Path: path, Err: fmt.Errorf(format, args...)}
}

// longestTTL returns the upper limit of these.
func (k Known) longestTTL() time.Duration {
	return cmp.Or(k.TTL, k.LongestTTL, defaultLongestTTL)
}

// leastTTL is the shortest TTL that is weighed.
const leastTTL = 50 * time.Millisecond

// quorum is how many nodes hold the lock, and spare how many may be down.
func (k Known) quorum() int { return k.Nodes/2 + 1 }

func (k Known) spare() int { return k.Nodes - k.quorum() }

// forgets reports whether a crashed node may return without a key.
func (k Known) forgets() bool { return k.Crashes.Persistence != nemesis.Always }

func (k Known) persistence() nemesis.Persistence {
	if k.Crashes.Persistence == "" {
		return nemesis.Nothing
	}
	return k.Crashes.Persistence
}

// Usual returns the defaults of fields that must not be 0.
func Usual() Question {
	return Question{Known: Known{Nodes: 5, Contention: Contention{Clients: 1}}}
}

// Load reads a question from YAML files, of which a later one overrides an earlier one. The JSON of
// "lockstorm doctor" is such a file: its facts are read. Omitted fields have the values of [Usual]. Files
// of samples are relative to the file that names them. The question may be incomplete if something
// else completes it: call [Question.Validate] afterwards. Errors name the file and, if possible, the
// line.
func Load(paths ...string) (Question, error) {
	q := Usual()
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return q, err
		}
		text, err := form.ReadText(file)
		_ = file.Close()
		if err == nil {
			err = q.Add(text, filepath.Dir(path))
		}
		if err != nil {
			return q, fmt.Errorf("%s: %w", path, err)
		}
	}
	return q, nil
}

// Add reads the text of a file in a directory into the question.
func (q *Question) Add(text []byte, dir string) error {
	var report struct{ Facts json.RawMessage }
	if json.Unmarshal(text, &report) == nil && report.Facts != nil {
		text = report.Facts
	}
	var given Question
	if err := form.Decode(text, "question", &given); err != nil {
		return err
	}
	q.forget(given)
	if err := form.Decode(text, "question", q); err != nil {
		return err
	}
	err := q.readSamples(dir)
	if err == nil {
		err = form.Check(q)
	}
	return form.Locate(text, err)
}

// forget removes the distributions and pauses for which there are others: two forms do not mix.
func (q *Question) forget(others Question) {
	for _, d := range []struct{ own, other *nemesis.Distribution }{
		{&q.RoundTrip, &others.RoundTrip}, {&q.Hold, &others.Hold}, {&q.Contention.Think, &others.Contention.Think},
	} {
		if o := d.other; o.SamplesFrom != "" || len(o.Samples) > 0 || o.Range != (nemesis.Range{}) {
			*d.own = nemesis.Distribution{}
		}
	}
	if others.Pauses != (Pauses{}) {
		q.Pauses = Pauses{}
	}
}

// readSamples reads the files of samples into their distributions.
func (q *Question) readSamples(dir string) error {
	return form.Walk(q, func(_ string, v reflect.Value) (bool, error) {
		if v.Type() != reflect.TypeFor[nemesis.Distribution]() {
			return false, nil
		}
		d := v.Addr().Interface().(*nemesis.Distribution)
		path := d.SamplesFrom
		if path == "" {
			return true, nil
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		samples, err := readSamplesFile(path)
		d.Samples, d.SamplesFrom = append(d.Samples, samples...), ""
		return true, form.In("samples_from", err)
	})
}

// readSamplesFile reads a file with one duration a line: as in 1.2ms, or a number of milliseconds,
// as ping prints them. A # begins a comment. Errors name the file and the line.
func readSamplesFile(path string) ([]time.Duration, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return scenarios.ReadSamples(path, file, parseSample)
}

// parseSample reads a duration or a number of milliseconds.
func parseSample(text string) (time.Duration, error) {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return time.ParseDuration(text)
	}
	ns := number * float64(time.Millisecond)
	if math.IsNaN(ns) || math.Abs(ns) > float64(nemesis.MaxDuration) {
		return 0, fmt.Errorf("%s is no time", text)
	}
	return time.Duration(ns), nil
}

// MarshalJSON writes the YAML form of the question as JSON, which [Load] reads too.
func (q Question) MarshalJSON() ([]byte, error) {
	type plain Question // without this method
	return form.JSON(plain(q))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (q *Question) UnmarshalJSON(text []byte) error {
	type plain Question
	var p plain
	err := form.Decode(text, "question", &p)
	*q = Question(p)
	return err
}
