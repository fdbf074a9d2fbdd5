package runner_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

const anotherRun = "The same seed now gives another run: stored replay strings of it no longer repeat. What moved in a run can be read in internal/runner/testdata/*.txt."

// Law: the same seed gives the same trace on every machine of an architecture, with and without the
// race detector. Beside each hash is a text that changes before the hash does if a user would
// notice the change.
func TestGoldenTraces(t *testing.T) {
	if runtime.GOARCH != exactArch {
		t.Skipf("the traces are those of %s: floating point may differ between architectures", exactArch)
	}
	// Kinds that are named, so that those to come change nothing here.
	kinds := nemesis.Weights{"power-loss": 1, "loss": 1, "latency": 1, "partition": 1, "pause": 1, "clock-rate": 1, "clock-jump": 1}
	var made strings.Builder
	for _, name := range []string{"calm", "crash-restart", "clock-drift", "fenced-write"} {
		plain := find(t, name)
		stormy := runner.WithGenerator(plain, nemesis.Generator{Faults: kinds, Most: 6})
		for seed := range uint64(5) {
			traceLine(t, &made, name, plain, seed)
			traceLine(t, &made, name+" in a storm", stormy, seed)
		}
	}
	testkit.GoldenFile(t, "testdata/traces_"+exactArch+".txt", made.String(), anotherRun)
}

func traceLine(t *testing.T, to *strings.Builder, name string, s scenarios.Scenario, seed uint64) {
	t.Helper()
	r, err := runner.Run(context.Background(), simulator, s, seed, nil)
	if err != nil {
		t.Fatalf("%s, seed %d: %v", name, seed, err)
	}
	broken := "none"
	for _, f := range r.Report.Findings {
		if f.Verdict == checker.Violated {
			broken = strings.TrimPrefix(broken+" "+f.Property.Code(), "none ")
		}
	}
	_, _ = fmt.Fprintf(to, "%s, seed %d: trace %016x, %d grants, violated: %s\n", name, seed, r.TraceHash, r.Report.Measurements.Grants, broken)
}

// Law: the first run of each of these scenarios stays the same, event by event, and so do its
// findings. They are short enough to be read, as examples of histories and verdicts. The checker's
// tests read them, with the same findings.
func TestGoldenRuns(t *testing.T) {
	if runtime.GOARCH != exactArch {
		t.Skipf("the runs are those of %s: floating point may differ between architectures", exactArch)
	}
	for _, c := range []struct {
		name, how string
		shorten   func(*scenarios.Scenario)
	}{
		{"calm", "here one client does one section", func(s *scenarios.Scenario) {
			s.Clients, s.Setting.Clients = slices.Clone(s.Clients[:1]), 1
			s.Clients[0].Rounds = 1
		}},
		{"crash-restart", "here unchanged", func(*scenarios.Scenario) {}},
		{"pause-then-write", "here with longer delays between tries", func(s *scenarios.Scenario) { s.Lock.Retry = span(600*ms, 700*ms) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := find(t, c.name)
			c.shorten(&s)
			var log history.Log
			r, err := runner.Run(t.Context(), simulator, s, 1, &log)
			if err != nil {
				t.Fatal(err)
			}
			testkit.GoldenFile(t, "testdata/"+c.name+".txt", wholeRun(t, s, c.how, log, r.Report), anotherRun)
		})
	}
}

const legend = `A line is an event: its time in ms, its kind, client cN, node nN, token, and key=value with
times in ms. (All of it: internal/historytest/notation.go.) Below "--" stands what is found in the
run. Made from seed 1 by make bless, without the steps of clients.
`

// wholeRun prints a run in the notation of the checker's tests, with its findings.
func wholeRun(t *testing.T, s scenarios.Scenario, how string, log history.Log, found checker.Report) string {
	var b strings.Builder
	h := prepared(t, simulator, s).Header(1)
	_, _ = fmt.Fprintf(&b, "%s: %s; %s.\n\n%s\n", s.Name, s.Summary, how, legend)
	_, _ = fmt.Fprintf(&b, "header nodes=%d keys ttl=%s allowance=%s %s\n", h.Nodes, inMs(h.LongestTTL), inMs(h.Allowance), inWords(h.Bounds))
	tokens := map[string]string{"": ""}
	for _, e := range log {
		if e.Kind == history.Step {
			continue
		}
		if _, known := tokens[e.Token]; !known {
			tokens[e.Token] = string(rune('A' + len(tokens) - 1))
		}
		e.Token = tokens[e.Token]
		b.WriteString(inNotation(e) + "\n")
	}
	b.WriteString("--\n")
	for _, f := range found.Findings {
		story := f.Story()
		for long, short := range tokens {
			if len(long) > 8 {
				story = strings.ReplaceAll(story, "token "+long[:8], "token "+short)
			}
		}
		_, _ = fmt.Fprintf(&b, "%s %s: %s\n", f.Property, f.Verdict, story)
	}
	return b.String()
}

// inWords names each bound as files do. Those that the files of testdata began with stand
// first and always; one that came later stands where it is set, so that it changes nothing
// in a run that has none.
func inWords(b history.Bounds) string {
	began := []string{"tries", "acquire", "extend", "release", "cleanup", "grant"}
	words, later := make([]string, len(began)), []string(nil)
	v := reflect.ValueOf(b)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		value := v.Field(i).Interface()
		if d, is := value.(time.Duration); is {
			value = inMs(d)
		}
		word := fmt.Sprintf("%s=%v", name, value)
		if place := slices.Index(began, name); place >= 0 {
			words[place] = word
		} else if !v.Field(i).IsZero() {
			later = append(later, word)
		}
	}
	return strings.Join(append(words, later...), " ")
}

func inMs(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%06d", d/ms, d%ms), "0"), ".")
}

// inNotation is an event as internal/historytest/notation.go reads it.
func inNotation(e history.Event) string {
	words := []string{fmt.Sprintf("%-11s", inMs(time.Duration(e.Time))), e.Kind.String()}
	add := func(is bool, format string, value any) {
		if is {
			words = append(words, fmt.Sprintf(format, value))
		}
	}
	text := func(s string) string { return strings.ReplaceAll(s, " ", "_") }
	add(e.Client > 0, "c%d", e.Client)
	add(e.Node > 0, "n%d", e.Node)
	add(e.Token != "", "%s", e.Token)
	add(e.Resource != "", "r=%s", e.Resource)
	add(e.TTL != 0, "ttl=%s", inMs(e.TTL))
	add(e.Until != 0, "until=%s", inMs(time.Duration(e.Until)))
	add(e.Kind == history.Granted || e.Kind == history.Extended, "left=%s", inMs(e.Validity))
	add(e.Fence != 0, "fence=%d", e.Fence)
	add(e.Value != 0, "value=%d", e.Value)
	add(e.Outcome > history.OK, "outcome=%v", e.Outcome)
	add(e.Sent != 0, "sent=%s", inMs(time.Duration(e.Sent)))
	add(e.Name != "", "name=%s", e.Name)
	add(e.K != 0, "k=%d", e.K)
	add(e.Reason != "", "reason=%s", text(e.Reason))
	add(e.Fault != 0, "fault=%d", e.Fault)
	add(e.Detail != "", "detail=%s", text(e.Detail))
	return strings.Join(words, " ")
}

// varied is a named scenario with a setting of another sort, in a storm of all
// kinds of faults. All of it follows from the seed.
func varied(seed uint64) scenarios.Scenario {
	random := rand.New(rand.NewPCG(seed, 0))
	s := pick(random, scenarios.All())
	own, lock := s.Persistence, s.Lock
	if s.Persistence = pick(random, []nemesis.Persistence{nemesis.Nothing, nemesis.EverySecond, nemesis.Always}); s.Validate() != nil {
		s.Persistence = own // which the scenario's own plan needs
	}
	s.Sync = upTo(pick(random, []time.Duration{0, ms, 20 * ms}))
	if lag := upTo(pick(random, []time.Duration{0, ms, 50 * ms})); lag != nil { // the scenario's own plan may need one
		s.Replication = lag
	}
	s.Connections = pick(random, connections)
	s.Guard = pick(random, []guard.Mode{s.Guard, guard.Plain, guard.FencedWrites, guard.Fenced, guard.Token})
	s.Lock.Clock = pick(random, []string{s.Lock.Clock, "monotonic", "boottime", "wall"})
	switch random.IntN(8) {
	case 0:
		s.Lock.Quarantine = s.Lock.TTL
	case 1:
		s.Lock.Fence = "quorum"
	case 2:
		s.Lock.Watchdog = scenarios.Watchdog{Every: s.Lock.TTL / 3, Limit: random.IntN(4)}
	case 3:
		s.Lock.Sequential = true
	case 4:
		s.Lock.Tokens = "time"
	}
	if lock.Kind != "redlock" { // which has no use for these
		s.Lock = lock
	}
	if random.IntN(3) == 0 {
		s.Clients = slices.Clone(s.Clients)
		for i := range s.Clients {
			s.Clients[i].ExtendEvery = s.Lock.TTL / 3
		}
	}
	return runner.WithGenerator(s, nemesis.Generator{Most: 1 + random.IntN(20), NoSwarm: random.IntN(2) == 0})
}

// connections are all sorts of connections.
var connections = []nemesis.Connections{{}, {Limit: 1}, {Limit: 3}, {Pipelined: true}, {Batched: true}}

func pick[T any](random *rand.Rand, of []T) T { return of[random.IntN(len(of))] }

// upTo is a uniform distribution up to d, or none at all.
func upTo(d time.Duration) *nemesis.Distribution {
	if d == 0 {
		return nil
	}
	return &nemesis.Distribution{Range: nemesis.Range{Max: d}}
}

// traceOf runs a scenario on so many processors.
func traceOf(t *testing.T, s scenarios.Scenario, seed uint64, procs int) uint64 {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	r, err := runner.Run(context.Background(), simulator, s, seed, nil)
	if err != nil {
		t.Fatalf("%s, seed %d: %v", s.Name, seed, err)
	}
	return r.TraceHash
}

// Law: whatever the setting is and whatever is drawn for it, a run does not end
// with an error, and a repetition has the same trace, on one processor and on
// two; another seed has another.
func TestEveryStormCanBeRepeated(t *testing.T) {
	seen := map[uint64]uint64{}
	for seed := range uint64(40) {
		s := varied(seed)
		one := traceOf(t, s, seed, 1)
		for procs := 1; procs <= 2; procs++ {
			if again := traceOf(t, s, seed, procs); again != one {
				t.Errorf("a storm on %s with seed %d cannot be repeated: the trace was %x, and again, on %d processors, %x", s.Name, seed, one, procs, again)
			}
		}
		if other, ok := seen[one]; ok {
			t.Errorf("seeds %d and %d give one and the same run, with the trace %x: the seed changes nothing", seed, other, one)
		}
		seen[one] = seed
	}
}
