package runner_test

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

const anotherRun = "The same seed now gives another run: stored replay strings of it no longer repeat. What moved in a run can be read in internal/runner/testdata/*.txt."

// Law: the same seed gives the same trace on every machine of an architecture, with the
// race detector and without. Beside each hash stands what has to change in the eyes of a
// user before more than the hash does.
func TestGoldenTraces(t *testing.T) {
	if runtime.GOARCH != exactArch {
		t.Skipf("the traces are those of %s: floating point may differ between architectures", exactArch)
	}
	// Kinds that are named, so that those to come change nothing here.
	kinds := nemesis.Weights{"power-loss": 1, "loss": 1, "latency": 1, "partition": 1, "pause": 1, "clock-rate": 1, "clock-jump": 1}
	var made strings.Builder
	for _, name := range []string{"calm", "crash-restart", "clock-drift", "fenced-write"} {
		plain := find(t, name)
		stormy := runner.InStorm(plain, nemesis.Generator{Faults: kinds, Most: 6})
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

// Law: the first run of these stays what it is, event by event, and so does what is found
// in it. They are short enough to be read, as what a history is and how it is judged. The
// checker's tests read them, and come to the same.
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

// wholeRun prints a run in the notation of the checker's tests, and what is found in it.
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
