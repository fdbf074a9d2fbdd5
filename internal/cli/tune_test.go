package cli

import (
	"cmp"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/measure/tune"
	"github.com/lockstorm/lockstorm/nemesis"
)

// smallTune is a question with a quick answer.
var smallTune = []string{"tune", "nodes=3", "round_trip=500us..1500us", "clocks.rate_ppm=500", "pauses=[{every: 1h, length: 10ms}]",
	"hold=20ms", "contention={clients: 2, think: 20ms..60ms}", "want={violations_per_billion: 1, acquire_p99: 50ms, availability: 0.99}", "--runs", "5"}

func tuned(t *testing.T, more ...string) (code int, out, problems string) {
	t.Helper()
	return command(t, append(slices.Clone(smallTune), more...)...)
}

// An advice that cannot be stored is printed all the same: its validation may have taken minutes. What is
// known before is no work.
func TestAdviceThatCannotBeStored(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	below := filepath.Join(file, "below")
	q, err := question(smallTune[1 : len(smallTune)-2]) // without --runs
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	_, err = tuneOptions{runs: 5, seed: 1, out: below}.advise(t.Context(), q, &said, io.Discard)
	if err == nil || !strings.HasPrefix(err.Error(), "--out: ") {
		t.Errorf("the error is %v", err)
	}
	wantIn(t, said.String(), "recommended\n", "validated by runs")
	if strings.Contains(said.String(), "stored in") {
		t.Errorf("it is not stored, and says:\n%s", &said)
	}
}

// Each fact can be in the file, in an argument, or left out where it has a default: validation comes after
// defaults and arguments. Of two equal fields the later counts.
func TestTuneFactsInFileOrArgument(t *testing.T) {
	facts := []struct{ yaml, name, value string }{ // the argument and the line state the same
		{"nodes: 3", "nodes", "3"},
		{"round_trip: {p50: 1ms, p99: 2ms, max: 3ms}", "round_trip", "{p50: 1ms, p99: 2ms, max: 3ms}"},
		{"clocks: {rate_ppm: 500}", "clocks.rate_ppm", "500"},
		{"pauses: [{every: 1h, length: 10ms}]", "pauses", "[{every: 1h, length: 10ms}]"},
		{"hold: {min: 20ms, max: 20ms}", "hold", "20ms"},
		{"contention: {clients: 2}", "contention.clients", "2"},
		{"want: {violations_per_billion: 1}", "want.violations_per_billion", "1"},
	}
	needed := map[string]string{"round_trip": "round_trip: missing", "hold": "hold: missing", "pauses": "pauses: missing"}
	file := filepath.Join(t.TempDir(), "service.yaml")
	run := func(omit, both string) (string, string) {
		var lines, args []string
		for _, f := range facts {
			if f.name != omit {
				lines = append(lines, f.yaml)
			}
			if f.name == both {
				args = append(args, f.name+"="+f.value)
			}
		}
		write(t, file, strings.Join(lines, "\n"))
		_, out, problems := command(t, append([]string{"tune", file, "--runs", "2"}, args...)...)
		return out, problems
	}
	whole, problems := run("", "")
	want(t, "problems", problems, "")
	for _, f := range facts {
		given, problems := run(f.name, f.name)
		want(t, "advice with "+f.name, given, whole)
		want(t, "problems with "+f.name, problems, "")
		_, problems = run(f.name, "")
		if expected := needed[f.name]; expected == "" {
			want(t, "problems without "+f.name, problems, "")
		} else {
			wantIn(t, problems, expected)
		}
	}
}

// A TTL that is given is the only one that is weighed, and the advice says what it is for.
func TestTuneWithTheUsersTTL(t *testing.T) {
	code, out, problems := tuned(t, "ttl=770ms", "--format", "json")
	want(t, "exit code", code, exitAsExpected)
	want(t, "on stderr", problems, "")
	var advice struct {
		Recommended tune.Weighed
		Front       []tune.Weighed
		Basis       []tune.Basis
	}
	if err := json.Unmarshal([]byte(out), &advice); err != nil {
		t.Fatal(err)
	}
	want(t, "TTL", advice.Recommended.TTL, 770*time.Millisecond)
	for _, w := range advice.Front {
		want(t, "TTL of an alternative", w.TTL, 770*time.Millisecond)
	}
	wantIn(t, advice.Basis[0].How, "given; a dead holder")
}

// tune stores the advice and scenarios that run accepts, and overwrites nothing.
func TestTuneStores(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "advice")
	code, out, _ := tuned(t, "--out", dir, "--format", "json")
	want(t, "exit code", code, exitAsExpected)
	want(t, "tune.json", read(t, filepath.Join(dir, "tune.json")), out)
	files, _ := filepath.Glob(filepath.Join(dir, "*.yaml"))
	want(t, "scenarios", len(files), 4)
	for _, file := range files {
		_, seed, _ := strings.Cut(strings.TrimSuffix(file, ".yaml"), "-seed-")
		code, out, problems := command(t, "run", file, "--seed", cmp.Or(seed, "1"), "--out", "")
		if code != exitAsExpected {
			t.Errorf("%s: exit code %d\n%s%s", file, code, out, problems)
		}
	}
}

// A later argument overrides an earlier one; a length and the pauses as a whole, unless it names a field of the length.
func TestTuneFiles(t *testing.T) {
	elsewhere(t)
	for name, text := range map[string]string{
		"servers.json": `{"findings": [], "facts": {"nodes": 3, "round_trip": {"samples": ["1ms", "2ms"]}, "crashes": {"persistence": "aof-always"}}}`,
		"service.yaml": "hold: {max: 20ms}\npauses: [{every: 1h, length: 10ms}]\ncrashes: {node_every: 1h}",
		"other.yaml":   "round_trip: {max: 5ms}\npauses: [{every: 2h, length: 1s}]",
	} {
		write(t, name, text)
	}
	q, err := question([]string{"servers.json", "contention.clients=2", "service.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	if len(q.RoundTrip.Samples) != 2 || q.Nodes != 3 || q.Crashes.Persistence != nemesis.Always || q.Crashes.NodeEvery != time.Hour || q.Contention.Clients != 2 {
		t.Errorf("read %+v", q)
	}
	if q, err = question([]string{"servers.json", "service.yaml", "other.yaml"}); err != nil || len(q.RoundTrip.Samples) != 0 || len(q.Pauses) != 1 || q.Pauses[0].Every != 2*time.Hour || q.Hold.Max != 20*time.Millisecond {
		t.Errorf("read %+v, %v", q, err)
	}
	if q, err = question([]string{"hold={p50: 1ms, p90: 2ms, max: 1s}", "hold.p50=2ms", "hold.p99=20ms", "contention.think=1s", "contention.think.max=2s"}); err != nil ||
		len(q.Hold.Percentiles) != 3 || q.Hold.Percentiles["p50"] != 2*time.Millisecond || q.Hold.Max != time.Second || q.Contention.Think.Min != time.Second || q.Contention.Think.Max != 2*time.Second {
		t.Errorf("read %+v, %v", q, err)
	}
}

// When the budget is used up, the advice is what the model recommends.
func TestTuneBudget(t *testing.T) {
	const unvalidated = "recommended by the model, not validated by runs"
	for budget := time.Second; ; budget *= 4 { // the model comes first, and takes as long as the machine lets it
		code, out, _ := tuned(t, "--runs", "1000000", "--budget", budget.String())
		if budget < time.Minute && !strings.Contains(out, unvalidated) {
			continue
		}
		want(t, "exit code", code, exitUndecided)
		wantIn(t, out, unvalidated)
		return
	}
}
