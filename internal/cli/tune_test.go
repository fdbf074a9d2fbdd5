package cli

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/tune"
	"github.com/lockstorm/lockstorm/nemesis"
)

// smallTune is a question with a quick answer.
var smallTune = []string{"tune", "nodes=3", "round-trip=500us..1500us", "clock-ppm=500", "pause-bound=10ms",
	"hold=20ms", "clients=2", "think=20ms..60ms", "violations=1", "acquire-p99=50ms", "availability=0.99", "--runs", "5"}

func tuned(t *testing.T, more ...string) (code int, out, problems string) {
	t.Helper()
	return command(t, append(slices.Clone(smallTune), more...)...)
}

// instead is smallTune with other facts in place of one.
func instead(name string, others ...string) []string {
	all := slices.DeleteFunc(slices.Clone(smallTune), func(arg string) bool { return strings.HasPrefix(arg, name+"=") })
	return append(all, others...)
}

// The page shows the setting, the basis of each figure, the validation, and the alternatives.
func TestTune(t *testing.T) {
	code, out, problems := tuned(t)
	want(t, "exit code", code, exitAsExpected)
	want(t, "on stderr", problems, "")
	wantIn(t, out, "recommended\n", "drift factor               0.01", "TTL: modelled", "drift factor: exact", "if: clock rates within 500 ppm",
		"edge: 0 of 5 violated lease exclusion", "acquire p99: measured", "validated by runs with seeds 1000001 to", "other TTLs and extensions")
	_, again, _ := tuned(t)
	want(t, "the same seed", again, out)
}

// An advice that cannot be stored is printed all the same: its validation may have taken minutes. What is
// known before is no work.
func TestAdviceThatCannotBeStored(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(file, "below")
	code, out, problems := tuned(t, "--out", below)
	want(t, "exit code", code, exitBadInput)
	want(t, "printed", out, "")
	wantIn(t, problems, "--out "+below+": not a directory")

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

// Without bound, fence and wish the page does not put a number on what nobody knows.
func TestTuneTellsWhatIsUnknown(t *testing.T) {
	args := slices.DeleteFunc(instead("pause-bound", "pauses-unbounded=true"), func(arg string) bool { return arg == "violations=1" })
	code, out, _ := command(t, args...)
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "violations per 10⁹ grants  unknown: any number", "availability               unknown: no crashes were stated", "a lock to save work")
}

// Each fact can be in the file, in an argument, or left out where it has a default: validation comes after
// defaults and arguments.
func TestTuneFactsInFileOrArgument(t *testing.T) {
	facts := []struct{ yaml, name, value string }{ // the argument and the line state the same
		{"nodes: 3", "nodes", "3"},
		{"round_trip: {min: 500us, max: 1500us}", "round-trip", "500us..1500us"},
		{"clocks: {rate_ppm: 500}", "clock-ppm", "500"},
		{"pauses: {bound: 10ms}", "pause-bound", "10ms"},
		{"hold: {min: 20ms, max: 20ms}", "hold", "20ms"},
		{"contention: {clients: 2, think: {min: 20ms, max: 60ms}}", "think", "20ms..60ms"},
		{"want: {violations_per_billion: 1}", "violations", "1"},
	}
	needed := map[string]string{
		"round-trip": "round_trip: missing", "hold": "hold: missing", "pause-bound": "pauses: want one of length (with every), bound, unbounded",
	}
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
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		_, out, problems := command(t, append([]string{"tune", file, "--runs", "2"}, args...)...)
		return out, problems
	}
	whole, problems := run("", "")
	want(t, "problems", problems, "")
	for _, f := range facts {
		if f.name != "think" { // the line has clients, too
			given, problems := run(f.name, f.name)
			want(t, "advice with "+f.name, given, whole)
			want(t, "problems with "+f.name, problems, "")
		}
		both, _ := run("", f.name)
		want(t, "advice with "+f.name+" and the file", both, whole)
		_, problems = run(f.name, "")
		if expected := needed[f.name]; expected == "" {
			want(t, "problems without "+f.name, problems, "")
		} else {
			wantIn(t, problems, expected)
		}
	}
	if err := os.WriteFile(file, []byte("pauses: unbounded\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, problems := command(t, "tune", file)
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, "line 1: pauses: there is text: want a mapping, as in {every: …, length: …, bound: …, unbounded: true}")
}

// A TTL that is given is the only one that is weighed, and the advice says what it is for.
func TestTuneWithTheUsersTTL(t *testing.T) {
	code, out, problems := tuned(t, "ttl=770ms", "--format", "json")
	want(t, "exit code", code, exitAsExpected)
	want(t, "on stderr", problems, "")
	var advice tune.Advice
	if err := json.Unmarshal([]byte(out), &advice); err != nil {
		t.Fatal(err)
	}
	want(t, "TTL", advice.Recommended.TTL, 770*time.Millisecond)
	for _, w := range advice.Front {
		want(t, "TTL of an alternative", w.TTL, 770*time.Millisecond)
	}
	wantIn(t, advice.Basis[0].How, "; given;")

	code, out, _ = tuned(t, "ttl=50ms", "hold=10s", "no-extension=false", "pause-bound=60ms")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, strings.Join(strings.Fields(out), " "), "with a TTL of 50ms, and ttl fixes it")
}

// An even number of nodes tolerates no more than one node less.
func TestTuneOfAnEvenNumberOfNodes(t *testing.T) {
	_, out, _ := command(t, instead("nodes", "nodes=4")...)
	wantIn(t, strings.Join(strings.Fields(out), " "), "4 nodes tolerate 1 that are down; so do 3", "no crash rate of nodes was stated: whenever a node crashes, it stays away for the restart delay")
}

// tune stores the advice, the front and scenarios that run accepts, and overwrites nothing.
func TestTuneStores(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "advice")
	code, out, _ := tuned(t, "--out", dir, "--format", "json")
	want(t, "exit code", code, exitAsExpected)
	var advice tune.Advice
	if err := json.Unmarshal([]byte(out), &advice); err != nil || advice.Recommended == nil || len(advice.Basis) == 0 {
		t.Errorf("%v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "tune.json"))
	want(t, "tune.json", string(text), out)
	if err != nil {
		t.Error(err)
	}
	table, _ := os.ReadFile(filepath.Join(dir, "front.csv"))
	want(t, "lines of front.csv", strings.Count(string(table), "\n"), len(advice.Front)+1)
	picture, _ := os.ReadFile(filepath.Join(dir, "front.svg"))
	wantIn(t, string(picture), "</svg>", "in 1e9 grants")
	files, _ := filepath.Glob(filepath.Join(dir, "*.yaml"))
	want(t, "scenarios", len(files), 5)
	for _, file := range files {
		_, seed, _ := strings.Cut(strings.TrimSuffix(file, ".yaml"), "-seed-")
		code, out, problems := command(t, "run", file, "--seed", seed, "--out", "")
		if code != exitAsExpected {
			t.Errorf("%s: exit code %d\n%s%s", file, code, out, problems)
		}
	}
	code, _, problems := tuned(t, "--out", dir)
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, "nothing is overwritten")
}

// Goals that no setting meets end with exit code 1 and the reason.
func TestTuneRefuses(t *testing.T) {
	code, out, _ := command(t, instead("acquire-p99", "acquire-p99=501us")...)
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "no setting is recommended", "acquire_p99: 501µs is wanted")

	// A restart delay that is given stands in the way of a TTL that would do.
	code, out, _ = command(t, instead("acquire-p99", "node-crash-every=1h", "restart-delay=50ms", "pause-bound=300ms")...)
	want(t, "exit code", code, exitContradiction)
	wantIn(t, strings.Join(strings.Fields(out), " "), "would do if nodes without their keys stayed away for", "not 50ms")

	code, out, _ = command(t, instead("availability", "node-crash-every=1h", "availability=1")...)
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "availability: 1 is wanted, so that 0 of the time may be lost")
}

func TestTuneBadInput(t *testing.T) {
	samples := filepath.Join(t.TempDir(), "rtt.txt")
	if err := os.WriteFile(samples, []byte("1\nNaN\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	bad := func(args []string, said string) {
		t.Helper()
		code, out, problems := command(t, args...)
		if code != exitBadInput || out != "" || !strings.Contains(problems, said) || strings.Count(problems, "\n") != 1 {
			t.Errorf("%v: exit code %d, %q, %q, want %q", args, code, out, problems, said)
		}
	}
	bad(instead("pause-bound", "pauses-unbounded=true"), "no setting meets it: pauses are unbounded")
	bad(instead("round-trip", "round-trip={samples_from: "+samples+"}"), "rtt.txt:2: \"NaN\" is not a duration")
	for said, arg := range map[string]string{
		"hold: \"long\" is no distribution":                           "hold=long",
		"clock-ppm: \"many\" is not a whole number":                   "clock-ppm=many",
		"want.availability: 1.5":                                      "availability=1.5",
		"want.acquire_p99: 1µs is shorter":                            "acquire-p99=1us",
		"clocks.rate_ppm: -1":                                         "clock-ppm=-1",
		"--runs 0: want at least 1":                                   "--runs=0",
		"--budget 0s: want more than 0":                               "--budget=0",
		"pause-every and pause-bound: want one of them":               "pause-every=1s",
		"pause-bound and pauses-unbounded: want one of them":          "pauses-unbounded=true",
		"ttl: 10ms: the shortest":                                     "ttl=10ms",
		"ttl: 100.5ms: want whole milliseconds":                       "ttl=100500us",
		"longest_ttl: 10ms: the shortest":                             "longest-ttl=10ms",
		"hold: up to 1000h0m0s: want at most 240h0m0s":                "hold=1000h",
		"contention.think: up to 1000h0m0s: want at most":             "think=1000h",
		"unknown fact \"pause-bond\"; the nearest of 22: pause-bound": "pause-bond=1s",
		"fence: want fence=VALUE":                                     "fence",
		"open nowhere.yaml: no such file":                             "nowhere.yaml",
	} {
		bad(append(slices.Clone(smallTune), arg), said)
	}
	bad(append(slices.Clone(smallTune), "ttl=2s", "longest-ttl=1s"), "ttl: 2s is longer than longest_ttl, 1s")
}

// A later file overrides an earlier one; a distribution and the pauses as a whole.
func TestTuneFiles(t *testing.T) {
	elsewhere(t)
	for name, text := range map[string]string{
		"servers.json": `{"findings": [], "facts": {"nodes": 3, "round_trip": {"samples": ["1ms", "2ms"]}, "crashes": {"persistence": "aof-always"}}}`,
		"service.yaml": "hold: {max: 20ms}\npauses: {bound: 10ms}\ncrashes: {node_every: 1h}",
		"other.yaml":   "round_trip: {max: 5ms}\npauses: {unbounded: true}",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	q, err := question([]string{"servers.json", "clients=2", "service.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	if len(q.RoundTrip.Samples) != 2 || q.Nodes != 3 || q.Crashes.Persistence != nemesis.Always || q.Crashes.NodeEvery != time.Hour || q.Contention.Clients != 2 {
		t.Errorf("read %+v", q)
	}
	if q, err = question([]string{"servers.json", "service.yaml", "other.yaml"}); err != nil || len(q.RoundTrip.Samples) != 0 || q.Pauses.Bound != nil || !q.Pauses.Unbounded || q.Hold.Max != 20*time.Millisecond {
		t.Errorf("read %+v, %v", q, err)
	}
}

// When the budget is used up, the advice is what the model recommends.
func TestTuneBudget(t *testing.T) {
	code, out, _ := tuned(t, "--runs", "1000000", "--budget", "2s")
	want(t, "exit code", code, exitUndecided)
	wantIn(t, out, "recommended by the model, not validated by runs")
}
