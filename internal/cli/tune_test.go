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

	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/internal/tune"
)

// smallTune is a question with a quick answer.
var smallTune = []string{"tune", "--nodes", "3", "--round-trip", "500us..1500us", "--clock-ppm", "500", "--pause-bound", "10ms",
	"--hold", "20ms", "--clients", "2", "--think", "20ms..60ms", "--violations", "1", "--acquire-p99", "50ms", "--availability", "0.99", "--runs", "5"}

func tuned(t *testing.T, more ...string) (code int, out, problems string) {
	t.Helper()
	return command(t, append(slices.Clone(smallTune), more...)...)
}

// instead is smallTune with other flags in place of one.
func instead(name string, flags ...string) []string {
	i := slices.Index(smallTune, name)
	return slices.Concat(smallTune[:i], smallTune[i+2:], flags)
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

	set := pflag.NewFlagSet("tune", pflag.ContinueOnError)
	known := knownFlags(set)
	if err := set.Parse(smallTune[1 : len(smallTune)-2]); err != nil { // without --runs
		t.Fatal(err)
	}
	q, err := known.question(nil)
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	_, err = tuneOptions{runs: 5, most: tune.DefaultMaxRequests, seed: 1, out: below}.advise(t.Context(), q, &said, io.Discard)
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
	args := instead("--pause-bound", "--pauses-unbounded", "true")
	i := slices.Index(args, "--violations")
	code, out, _ := command(t, slices.Delete(args, i, i+2)...)
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "violations per 10⁹ grants  unknown: any number", "availability               unknown: no crashes were stated", "a lock to save work")
}

// Each fact can be in the file, in a flag, or left out where it has a default: validation comes after
// defaults and flags.
func TestTuneFactsInFileOrFlag(t *testing.T) {
	facts := []struct{ yaml, flag, value string }{ // the flag and the line state the same
		{"nodes: 3", "--nodes", "3"},
		{"round_trip: {min: 500us, max: 1500us}", "--round-trip", "500us..1500us"},
		{"clocks: {rate_ppm: 500}", "--clock-ppm", "500"},
		{"pauses: {bound: 10ms}", "--pause-bound", "10ms"},
		{"hold: {min: 20ms, max: 20ms}", "--hold", "20ms"},
		{"contention: {clients: 2, think: {min: 20ms, max: 60ms}}", "--think", "20ms..60ms"},
		{"want: {violations_per_billion: 1}", "--violations", "1"},
	}
	needed := map[string]string{
		"--round-trip": "round_trip: missing", "--hold": "hold: missing", "--pause-bound": "pauses: want one of length (with every), bound, unbounded",
	}
	file := filepath.Join(t.TempDir(), "service.yaml")
	run := func(omit, both string) (string, string) {
		var lines, args []string
		for _, f := range facts {
			if f.flag != omit {
				lines = append(lines, f.yaml)
			}
			if f.flag == both {
				args = append(args, f.flag, f.value)
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
		if f.flag != "--think" { // the line has clients, too
			given, problems := run(f.flag, f.flag)
			want(t, "advice with "+f.flag, given, whole)
			want(t, "problems with "+f.flag, problems, "")
		}
		both, _ := run("", f.flag)
		want(t, "advice with "+f.flag+" and the file", both, whole)
		_, problems = run(f.flag, "")
		if expected := needed[f.flag]; expected == "" {
			want(t, "problems without "+f.flag, problems, "")
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
	code, out, problems := tuned(t, "--ttl", "770ms", "--json")
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

	code, out, _ = tuned(t, "--ttl", "50ms", "--hold", "10s", "--no-extension", "false", "--pause-bound", "60ms")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, strings.Join(strings.Fields(out), " "), "with a TTL of 50ms, and ttl fixes it")
}

// An even number of nodes tolerates no more than one node less.
func TestTuneOfAnEvenNumberOfNodes(t *testing.T) {
	_, out, _ := command(t, instead("--nodes", "--nodes", "4")...)
	wantIn(t, strings.Join(strings.Fields(out), " "), "4 nodes tolerate 1 that are down; so do 3", "no crash rate of nodes was stated: whenever a node crashes, it stays away for the restart delay")
}

// tune stores the advice, the front and scenarios that run accepts, and overwrites nothing.
func TestTuneStores(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "advice")
	code, out, _ := tuned(t, "--out", dir, "--json")
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
	code, out, _ := tuned(t, "--acquire-p99", "501us")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "no setting is recommended", "acquire_p99: 501µs is wanted")
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
	bad(instead("--pause-bound", "--pauses-unbounded", "true"), "no setting meets it: pauses are unbounded")
	bad(instead("--round-trip", "--round-trip-samples", samples), "rtt.txt:2: \"NaN\" is not a duration")
	for said, flags := range map[string][]string{
		"--measure \"nowhere\": want host:port":            {"nowhere"},
		"--every 0s: want at least 1ms":                    {"localhost:1", "--every", "0"},
		"--samples 0: want at least 1":                     {"localhost:1", "--samples", "0"},
		"localhost:1: ":                                    {"localhost:1"},
		"--redis-ca, --redis-cert and --redis-key need --": {"localhost:1", "--redis-ca", "x"},
	} {
		bad(instead("--round-trip", append([]string{"--measure"}, flags...)...), said)
	}
	for said, flags := range map[string][]string{
		"--hold: \"long\" is no distribution":                     {"--hold", "long"},
		"--clock-ppm: \"many\" is not a whole number":             {"--clock-ppm", "many"},
		"want.availability: 1.5":                                  {"--availability", "1.5"},
		"want.acquire_p99: 1µs is shorter":                        {"--acquire-p99", "1us"},
		"clocks.rate_ppm: -1":                                     {"--clock-ppm", "-1"},
		"--runs 0: want at least 1":                               {"--runs", "0"},
		"--round-trip and --round-trip-samples: want one of them": {"--round-trip-samples", samples},
		"--measure and --round-trip: want one of them":            {"--measure", "localhost:1"},
		"--pause-every and --pause-bound: want one of them":       {"--pause-every", "1s"},
		"--pause-bound and --pauses-unbounded: want one of them":  {"--pauses-unbounded", "true"},
		"--samples needs --measure":                               {"--samples", "3"},
		"--redis-tls needs --measure":                             {"--redis-tls"},
		"ttl: 10ms: the shortest":                                 {"--ttl", "10ms"},
		"ttl: 100.5ms: want whole milliseconds":                   {"--ttl", "100500us"},
		"ttl: 2s is longer than longest_ttl, 1s":                  {"--ttl", "2s", "--longest-ttl", "1s"},
		"longest_ttl: 10ms: the shortest":                         {"--longest-ttl", "10ms"},
		"hold: up to 1000h0m0s: want at most 240h0m0s":            {"--hold", "1000h"},
		"contention.think: up to 1000h0m0s: want at most":         {"--think", "1000h"},
	} {
		bad(append(slices.Clone(smallTune), flags...), said)
	}
	code, _, problems := command(t, "tune", "nowhere.yaml")
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, "nowhere.yaml")
}
