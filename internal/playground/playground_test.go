package playground

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// asked calls as the page does.
func answered[A any](t *testing.T, name string, argument any) A {
	t.Helper()
	text, err := json.Marshal(argument)
	if err != nil {
		t.Fatal(err)
	}
	said, err := Call(name, text, nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var a A
	if err := json.Unmarshal(said, &a); err != nil {
		t.Fatalf("%s: %v in %.200s", name, err, said)
	}
	return a
}

// row returns the scenario of a row of the debate, as the page gets it.
func row(t *testing.T, name string) string {
	t.Helper()
	for _, topic := range answered[[]Topic](t, "debate", None{}) {
		for _, r := range topic.Rows {
			if r.Name == name {
				return r.Scenario
			}
		}
	}
	t.Fatalf("no row %s", name)
	return ""
}

// A run of the page is that of the command line: the same verdicts and the same trace.
func TestRunsAreThoseOfTheCommandLine(t *testing.T) {
	for _, topic := range answered[[]Topic](t, "debate", None{}) {
		for _, r := range topic.Rows {
			lines := answered[RunsAnswer](t, "runs", RunsRequest{Scenario: r.Scenario, First: 1, Runs: 1}).Runs
			s, err := scenarios.Find(r.Name)
			if err != nil {
				t.Fatal(err)
			}
			e, err := runner.Prepare(simulator, s)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range lines {
				want, err := e.Run(context.Background(), uint64(i+1), nil)
				if err != nil {
					t.Fatal(err)
				}
				if line.Trace != results.Hash(want.TraceHash) || line.Shown != want.AsExpected() || line.Against != want.Contradicts() {
					t.Errorf("%s, seed %d: %+v", r.Name, i+1, line)
				}
				for _, f := range want.Report.Findings {
					if line.Verdicts[f.Property.Code()] != f.Verdict {
						t.Errorf("%s, seed %d: %s is %v", r.Name, i+1, f.Property.Code(), line.Verdicts[f.Property.Code()])
					}
				}
			}
		}
	}
}

// Counted runs lead to the conclusion of the runner.
func TestConclusionIsThatOfTheRuns(t *testing.T) {
	const runs = 20
	text := row(t, "crash-restart")
	counts := Counts{Scenario: text, Runs: runs, Seen: map[string]map[checker.Verdict]int{}}
	for _, line := range answered[RunsAnswer](t, "runs", RunsRequest{Scenario: text, First: 1, Runs: runs}).Runs {
		if line.Shown {
			counts.Shown++
		}
		if line.Against {
			counts.Against++
		}
		for code, v := range line.Verdicts {
			if counts.Seen[code] == nil {
				counts.Seen[code] = map[checker.Verdict]int{}
			}
			counts.Seen[code][v]++
		}
	}
	o := answered[Outcome](t, "conclude", counts)
	e, err := prepare(text)
	if err != nil {
		t.Fatal(err)
	}
	want, err := runner.Batch{Experiment: e, First: 1, Runs: runs}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if o.Conclusion != want.Conclusion().String() || !o.Expects {
		t.Errorf("%+v, and the runner: %v", o, want.Conclusion())
	}
	for _, seen := range o.Observed {
		if seen.Property.Code == "V1" && (seen.Verdict != checker.Violated || seen.Share.Count != want.Rate(checker.Lease).K) {
			t.Errorf("V1: %+v", seen)
		}
	}
}

// A run is shown with its timeline and messages. What is exported is the run that is shown.
func TestShownAndExported(t *testing.T) {
	request := RunRequest{Scenario: row(t, "crash-restart"), Seed: 3}
	shown := answered[Shown](t, "show", request)
	if shown.Command != "lockstorm run crash-restart --seed 3" || !strings.Contains(shown.Sentence, "violated") ||
		!strings.Contains(shown.HTML, `class="timeline`) || !strings.Contains(shown.HTML, `class="sequence"`) {
		t.Errorf("command %q, sentence %q, or no timeline or messages", shown.Command, shown.Sentence)
	}
	exported := func(kind string) File {
		return answered[File](t, "export", ExportRequest{Kind: kind, Scenario: request.Scenario, Seed: request.Seed})
	}
	if f := exported("scenario"); f.Text != request.Scenario || f.Name != "crash-restart.yaml" {
		t.Errorf("the scenario: %q", f.Name)
	}
	judged, err := Judge(JudgeRequest{Name: "history"}, []byte(exported("history").Text))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range judged.Found {
		if f.Verdict != shown.Found[i].Verdict {
			t.Errorf("%s is %v in the history, and %v in the run", f.Property.Code, f.Verdict, shown.Found[i].Verdict)
		}
	}
	if f := exported("report"); !strings.HasPrefix(f.Text, "<!DOCTYPE html>") || f.Name != "crash-restart-3.html" {
		t.Errorf("the report: %s, %.40q", f.Name, f.Text)
	}
	if f := exported("test"); !strings.Contains(f.Text, "func TestBackingOfCrashRestart(") {
		t.Errorf("the test: %.400s", f.Text)
	}
}

// A link leads to the same run, whether the scenario is of the table or not.
func TestLinks(t *testing.T) {
	own := row(t, "crash-restart")
	turned := answered[Turned](t, "turn", TurnRequest{Scenario: own, Settings: []Setting{{"lock.ttl", 1200}, {"clients", 3}}})
	for _, scenario := range []string{own, turned.Scenario} {
		const seed = 1<<64 - 1 // more digits than JavaScript's numbers have
		trace := answered[RunsAnswer](t, "runs", RunsRequest{Scenario: scenario, First: seed, Runs: 1}).Runs[0].Trace
		link := answered[Fragment](t, "link", Linked{Scenario: scenario, Seed: seed, Trace: trace})
		back := answered[Linked](t, "followLink", link)
		if back.Scenario != scenario || back.Seed != seed || !strings.HasPrefix(trace, back.Trace) || len(back.Trace) != 8 {
			t.Errorf("%s leads to seed %d, trace %s of\n%s", link.Text, back.Seed, back.Trace, back.Scenario)
		}
		if len(link.Text) > 2000 {
			t.Errorf("the link has %d characters", len(link.Text))
		}
	}
}

// Links of others are refused with a reason.
func TestBadLinks(t *testing.T) {
	packed, err := pack(strings.Repeat("a", maxLinked+1))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                                  "want /run?",
		"/run?seed=1":                       "cut off",
		"/run?seed=x&scenario=":             `the seed "x" is no number`,
		"/run?seed=1&scenario=%%%":          "invalid URL escape",
		"/run?seed=1&scenario=AAAA":         "cut off",
		"/run?replay=v1.calm.1":             "replay string",
		"/run?seed=1&scenario=" + packed:    "longer than 1 MiB",
		"/run?seed=-1&scenario=" + packed:   `the seed "-1" is no number`,
		"/run?replay=" + "v9.x.1.0000.0000": "",
	} {
		if _, err := FollowLink(Fragment{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

// Whatever a reader has of a run leads to that run: what a hunt prints, what an exploration prints, a
// case, a link.
func TestPastedRuns(t *testing.T) {
	text := testkit.Read(t, "../../testdata/cases/redlock-lease-crash-restart.yaml")
	for _, p := range []string{
		hunted, "lockstorm replay " + hunted + "\n", text, explored,
		"https://example.org/#/run?replay=" + hunted,
	} {
		l := answered[Linked](t, "openPasted", Pasted{p})
		shown := answered[Shown](t, "show", RunRequest{Scenario: l.Scenario, Seed: l.Seed, Replay: l.Replay})
		if l.Trace == "" || !strings.HasPrefix(shown.Trace, l.Trace) {
			t.Errorf("%.60s leads to the trace %s, and the run has %s", p, l.Trace, shown.Trace)
		}
		link := answered[Fragment](t, "link", Linked{Scenario: l.Scenario, Seed: l.Seed, Trace: shown.Trace, Replay: l.Replay})
		if back := answered[Linked](t, "followLink", link); back.Seed != l.Seed || back.Replay != l.Replay || back.Trace != l.Trace {
			t.Errorf("%.60s: its link leads to %+v", p, back)
		}
	}
	for _, p := range []string{"", "v2", "hello world", "name: calm"} {
		if _, err := OpenPasted(Pasted{p}); err == nil {
			t.Errorf("%q was opened", p)
		}
	}
}

// Replay strings of a run with drawn faults, and of one with choices.
const (
	hunted   = "v1.calm.52.g2.4.crash,partition,latency.ea35f65c.2efb"
	explored = "v1.crash-restart.1..l2d2-3-1.4045361e.fc7d"
)

// Every knob of every fourth row can be turned to both of its ends and a little, or the answer says why
// not; the turned scenario expects nothing, and has the knob in its new position.
func TestKnobs(t *testing.T) {
	turned := 0
	for _, topic := range answered[[]Topic](t, "debate", None{}) {
		for n, r := range topic.Rows {
			if n%4 != 0 {
				continue
			}
			for _, k := range answered[KnobList](t, "knobs", ScenarioText{r.Scenario}).Knobs {
				if k.Min > k.Value || k.Value > k.Max || k.Step <= 0 {
					t.Errorf("%s: %+v", r.Name, k)
				}
				if same := answered[Turned](t, "turn", TurnRequest{r.Scenario, []Setting{{k.Path, k.Value}}}); same.Scenario != r.Scenario {
					t.Errorf("%s, with %s as it was, is now\n%s", r.Name, k.Path, same.Scenario)
				}
				for _, value := range []float64{k.Min, k.Value + k.Step, k.Max} {
					answer := answered[Turned](t, "turn", TurnRequest{r.Scenario, []Setting{{k.Path, value}}})
					if len(answer.Problems) > 0 {
						continue
					}
					turned++
					if value != k.Value && len(answered[Checked](t, "check", ScenarioText{answer.Scenario}).Expected) > 0 {
						t.Errorf("%s with %s = %g still expects something", r.Name, k.Path, value)
					}
					for _, now := range answered[KnobList](t, "knobs", ScenarioText{answer.Scenario}).Knobs {
						if now.Path == k.Path && math.Abs(now.Value-value) > k.Step {
							t.Errorf("%s: %s is %g, turned to %g", r.Name, k.Path, now.Value, value)
						}
					}
				}
			}
		}
	}
	if turned == 0 {
		t.Error("no knob was turned")
	}
}

func TestMistakesNameTheirLines(t *testing.T) {
	text := strings.Replace(strings.Replace(row(t, "crash-restart"), "kind: redlock", "kind: redlok", 1), "nodes: 5", "nods: 5", 1)
	checked := answered[Checked](t, "check", ScenarioText{text})
	if len(checked.Problems) == 0 {
		t.Fatal("no mistake was found")
	}
	for _, p := range checked.Problems {
		if p.Line == 0 || p.Text == "" || strings.HasPrefix(p.Text, "line ") {
			t.Errorf("%+v", p)
		}
	}
}

// A history is judged so far while its run goes on, wherever the writer has stopped.
func TestLiveHistory(t *testing.T) {
	whole := answered[File](t, "export", ExportRequest{Kind: "history", Scenario: row(t, "crash-restart"), Seed: 1}).Text
	for _, length := range []int{len(whole), len(whole) - 1, len(whole) / 2, strings.IndexByte(whole, '\n') + 1} {
		if _, err := Judge(JudgeRequest{Name: "live", Live: true}, []byte(whole[:length])); err != nil {
			t.Errorf("of %d bytes %d: %v", len(whole), length, err)
		}
	}
	if _, err := Judge(JudgeRequest{Name: "cut"}, []byte(whole[:len(whole)/2])); err == nil {
		t.Error("a history that was cut off was judged")
	}
}

func TestBadCalls(t *testing.T) {
	for _, c := range []struct{ name, argument, want string }{
		{"nothing", "{}", `unknown call "nothing"`},
		{"show", "{", "show: "},
		{"show", `{"scenario": "name: x", "seed": "1"}`, "clients: none"},
		{"export", `{"kind": "zip", "scenario": ` + quoted(row(t, "calm")) + `, "seed": "1"}`, `unknown export "zip"`},
		{"export", `{"kind": "test", "scenario": ` + quoted(row(t, "calm")) + `, "seed": "1"}`, "violates no property"},
		{"enter", `{"trial": "crash", "lock": "x"}`, `unknown lock "x"`},
		{"points", `{"sweep": "x", "name": "y"}`, "there is no curve"},
		{"turn", `{"scenario": ` + quoted(row(t, "calm")) + `, "settings": [{"path": "x", "value": 1}]}`, `no knob "x"`},
		{"shares", `{"counts": [{"count": 3, "of": 2}]}`, "3 of 2"},
	} {
		if _, err := Call(c.name, []byte(c.argument), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.name, c.argument, err, c.want)
		}
	}
}

func quoted(text string) string {
	all, _ := json.Marshal(text)
	return string(all)
}

// Every curve has points, and the scenario of each can be run.
func TestCurves(t *testing.T) {
	for _, c := range answered[[]Curve](t, "curves", None{}) {
		points := answered[CurvePoints](t, "points", c).Points
		if len(points) < 2 || len(answered[Checked](t, "check", ScenarioText{points[0].Scenario}).Problems) > 0 {
			t.Errorf("%+v has %d points", c, len(points))
		}
	}
}

// Every lock can enter every trial.
func TestEntries(t *testing.T) {
	c := answered[Contest](t, "compared", None{})
	for _, trial := range c.Trials {
		for _, lock := range c.Locks {
			entry := answered[ScenarioText](t, "enter", EntryRequest{trial.Name, lock.Name})
			if checked := answered[Checked](t, "check", entry); len(checked.Problems) > 0 {
				t.Errorf("%s in %s: %v", lock.Name, trial.Name, checked.Problems)
			}
		}
	}
}
