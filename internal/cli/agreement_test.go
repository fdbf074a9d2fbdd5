package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// shown is a tally of runs of a row of which each violated some properties, got no verdict
// on others, and is for the rest as expected.
func shownBy(t *testing.T, row string, runs int, violated, unknown []checker.Property) runner.Tally {
	t.Helper()
	s, err := scenarios.Find(row)
	if err != nil {
		t.Fatal(err)
	}
	tally := runner.NewTally(s)
	tally.Runs = runs
	for _, p := range checker.Properties() {
		v := checker.Holds
		if want, wanted := s.Expect.Want(p); wanted && want == checker.NotApplicable {
			v = want
		}
		switch {
		case slices.Contains(violated, p):
			v = checker.Violated
		case slices.Contains(unknown, p):
			v = checker.Unknown
		}
		tally.Seen[p][v] = runs
	}
	return tally
}

// agreementOn compares what a backend without crashes has shown of three rows with the
// simulator.
func agreementOn(t *testing.T, known ...scenarios.Difference) agreementView {
	topic := scenarios.Topic{Name: "Rows"}
	for _, name := range []string{"calm", "crash-restart", "evicted-key", "pause-then-write", "node-pause"} {
		s, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		topic.Rows = append(topic.Rows, scenarios.Row{Scenario: s})
	}
	sim, tin := backends[0].Backend, backends[0].Backend
	tin.Name, tin.Keys = "tin", false
	tin.Kinds = slices.DeleteFunc(slices.Clone(tin.Kinds), func(k nemesis.Kind) bool { return k == "crash" })
	all := []checker.Property{checker.Lease, checker.Section, checker.Effect}
	late := shownBy(t, "node-pause", 1, nil, nil)
	late.Slipped, late.Slipping = 1, runner.Result{Scenario: late.Scenario, SchedulingLag: 1e9}
	return agreementView{report.Agree([]scenarios.Topic{topic}, []report.Side{
		{Backend: sim, Found: report.Tallies{
			"calm": shownBy(t, "calm", 100, nil, nil), "crash-restart": shownBy(t, "crash-restart", 100, all, nil),
			"evicted-key":      shownBy(t, "evicted-key", 100, all, nil),
			"pause-then-write": shownBy(t, "pause-then-write", 100, all[1:], nil), "node-pause": shownBy(t, "node-pause", 100, nil, nil),
		}, Versions: map[string]string{"go": "1"}},
		{Backend: tin, Found: report.Tallies{
			"calm":             shownBy(t, "calm", 3, []checker.Property{checker.Cleanup}, nil), // which tin cannot judge
			"evicted-key":      shownBy(t, "evicted-key", 3, all[:2], nil),
			"pause-then-write": shownBy(t, "pause-then-write", 3, all[1:2], all[2:]), "node-pause": late,
		}, Versions: map[string]string{"tin": "2"}},
	}, known)}
}

// For each row the page says whether both backends reached the same verdicts, and if not, why: a
// known reason, a limit of the backend, or a slow machine.
func TestAgreementTellsEveryDifference(t *testing.T) {
	effect := scenarios.Difference{Row: "evicted-key", Backend: "tin", Property: checker.Effect, Reason: "the write is faster than the tin"}
	a := agreementOn(t, effect)
	var out strings.Builder
	if err := a.page(&out); err != nil {
		t.Fatal(err)
	}
	wantIn(t, out.String(),
		"| sim | 5 | 5, 100 % | 5, 100 % | 5, 100 % | 0 | 0 |",
		"| tin | 5 | 4, 80.0 % | 2, 40.0 % | 1, 20.0 % | 2 | 1 |",
		"| calm | ✓ 100/100 | ✓ 3/3 | yes |",
		"| crash-restart | V1 V2 V3 ✗ 100/100 | – | cannot be run |",
		"| evicted-key | V1 V2 V3 ✗ 100/100 | V1 V2 ✗ 3/3 | no, for a reason |",
		"| pause-then-write | V2 V3 ✗ 100/100 | V2 ✗ 3/3, V3 ? 3/3 | no |",
		"| node-pause | ✓ 100/100 | ✓ 1/1 | undecided |",
		"Not judged on tin, whose histories lack what it takes: L3 clean-up.",
		"- crash-restart on tin: the tin backend cannot carry out fault 2 of the plan, a crash",
		"What cannot be run:\n",
		"What differs:\n",
		"- evicted-key on tin: V3 holds, and violated on sim: the write is faster than the tin",
		"- pause-then-write on tin: V3 unknown, and violated on sim; NO REASON IS KNOWN",
		"- node-pause on tin: the machine was too slow in 1 of 1 run, 1s late; allowed: 20ms (a quarter of the 80ms between the end of work for 920ms and that of the TTL of 1s)",
	)
	want(t, "a difference without a reason", a.Conclusion(), runner.Contradiction)

	open := scenarios.Difference{Row: "pause-then-write", Backend: "tin", Property: checker.Effect, Reason: "tin forgets"}
	want(t, "all have one, and a row is open", agreementOn(t, effect, open).Conclusion(), runner.Undecided)

	stray := scenarios.Difference{Row: "calm", Backend: "tin", Property: checker.Lease, Reason: "tin rattles"}
	a = agreementOn(t, effect, open, stray)
	want(t, "a reason without a difference", a.Conclusion(), runner.Contradiction)
	out.Reset()
	if err := a.text(&out); err != nil {
		t.Fatal(err)
	}
	wantIn(t, out.String(), "Reasons for no difference:\n- calm, V1 on tin: tin rattles\n")

	absent := scenarios.Difference{Row: "calm", Backend: "zinc", Property: checker.Lease, Reason: "nobody asked"}
	want(t, "a reason of a backend that is not there", agreementOn(t, effect, open, absent).Conclusion(), runner.Undecided)
}

// Each known difference names an existing row and has a text.
func TestDifferencesAreOfRows(t *testing.T) {
	for _, d := range scenarios.Differences() {
		s, err := scenarios.Find(d.Row)
		_, wanted := s.Expect.Want(d.Property)
		if _, unknown := findBackend(d.Backend); err != nil || unknown != nil || !wanted || d.Reason == "" {
			t.Errorf("%+v: %v, %v", d, err, unknown)
		}
	}
}

func TestAgreementOfSavedDebates(t *testing.T) {
	code, _, problems := command(t, "agreement", referenceDir, referenceDir)
	want(t, "exit code of one backend twice", code, exitBadInput)
	wantIn(t, problems, "another directory also has a debate on sim")
	code, _, problems = command(t, "agreement", referenceDir, t.TempDir())
	want(t, "exit code of an empty directory", code, exitBadInput)
	wantIn(t, problems, results.DebateFile)

	dir := t.TempDir()
	if err := (results.Reference{Backend: "process"}).Save(dir, results.DebateFile); err != nil {
		t.Fatal(err)
	}
	code, out, _ := command(t, "agreement", referenceDir, dir)
	want(t, "exit code of a debate without a row", code, exitUndecided)
	wantIn(t, out, "- calm on process: was not run")
	if err := (results.Reference{Backend: "lead"}).Save(dir, results.DebateFile); err != nil {
		t.Fatal(err)
	}
	code, _, problems = command(t, "agreement", referenceDir, filepath.Clean(dir))
	want(t, "exit code of an unknown backend", code, exitBadInput)
	wantIn(t, problems, `unknown backend "lead"`)
}
