package watch_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/conform"
	"github.com/lockstorm/lockstorm/internal/conform/watch"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

const root = "../../.."

// necessary is a row of the table of docs/proof.md.
type necessary struct{ clause, lemma, run, violates, repeat string }

func necessity(t *testing.T) (rows []necessary) {
	t.Helper()
	page := testkit.Read(t, root+"/docs/proof.md")
	_, table, found := strings.Cut(page, "| assumption | clause | lemma | run | violates | repeat |\n")
	if !found {
		t.Fatal("docs/proof.md has no table of necessity")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	for _, line := range strings.Split(table, "\n")[1:] {
		cells := strings.Split(strings.ReplaceAll(strings.Trim(line, "|"), "`", ""), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, necessary{cells[1], cells[2], cells[3], cells[4], cells[5]})
	}
	return rows
}

// observed are the clauses that a replayed run breaks where the table has another of the same assumption: the
// silence of nodes that have lost data is as long as the longest lease there, so that one is too short in true
// time shows as a vote that comes too early; and what clocks do shows in what they make of leases and keys.
// The guarded resource is not replayed.
var observed = map[string]string{"A4Long": "A4Quiet", "A5Fast": "A5", "A5Slow": "A5", "F2Reads": ""}

// Law: each run of the table is as the table says, and breaks no other assumption. Each clause has its control
// in proof/checks.txt.
func TestNecessity(t *testing.T) {
	checks, err := os.ReadFile(root + "/proof/checks.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := necessity(t)
	for _, row := range rows {
		if !regexp.MustCompile(`(?m)^control ` + row.clause + ` \S+ ` + row.lemma + `$`).Match(checks) {
			t.Errorf("%s: proof/checks.txt has no control of it with the lemma %s", row.clause, row.lemma)
		}
		if strings.HasPrefix(row.run, "planted defect ") { // evidence/mutants tests it
			continue
		}
		again, err := runner.ParseReplay(strings.TrimPrefix(row.repeat, "lockstorm replay "))
		if err != nil {
			t.Error(err)
			continue
		}
		if want := "lockstorm run " + again.Scenario + " --seed "; !strings.HasPrefix(row.run, want) {
			t.Errorf("%q is another run than %q", row.run, row.repeat)
		}
		s, err := again.Find()
		if err != nil {
			t.Error(err)
			continue
		}
		r, o := replayed(t, s, again.Seed)
		if !again.Same(r) {
			t.Errorf("%s repeats another run", row.repeat)
		}
		if f := finding(r, row.violates); f == nil || f.Verdict != checker.Violated {
			t.Errorf("%s does not violate %s", row.repeat, row.violates)
		}
		want := row.clause
		if other, ok := observed[want]; ok {
			want = other
		}
		broken := o.Assumptions()
		if row.clause == "F1" { // see TestF1Alone
			broken = slices.DeleteFunc(broken, func(name string) bool { return name == "A4Quiet" })
		}
		if got := strings.Join(broken, " "); got != want {
			t.Errorf("%s breaks %q, want %q: %v", row.repeat, got, want, o.Mismatches)
		}
	}
	if len(rows) < 18 {
		t.Errorf("%d rows", len(rows))
	}
}

// Law: the run for F1 breaks A4, too, but needs not: if the node stays away for the longest TTL, the lock's own
// assumptions hold, the node forgets its counter, and V4 is violated all the same.
func TestF1Alone(t *testing.T) {
	s, err := scenarios.Find("fence-after-loss")
	if err != nil {
		t.Fatal(err)
	}
	s.Expect, s.Horizon = nil, 10*time.Second
	for i, f := range s.Plan {
		if _, ok := f.Action.(*nemesis.Crash); ok {
			s.Plan[i].End = nemesis.After(s.LongestTTL())
		}
	}
	r, o := replayed(t, s, 1)
	if f := r.Report.Finding(checker.Fence); f.Verdict != checker.Violated {
		t.Errorf("V4 %v: %s", f.Verdict, f.Story())
	}
	if len(o.Mismatches) != 1 || !o.Mismatches[0].Forgets() {
		t.Error(o.Mismatches)
	}
}

func replayed(t *testing.T, s scenarios.Scenario, seed uint64) (r runner.Result, o conform.Outcome) {
	t.Helper()
	e, err := runner.Prepare(simulated.Backend(), s)
	if err != nil {
		t.Fatal(err)
	}
	e = watch.Experiment(e, func(of conform.Outcome) { o = of })
	if r, err = e.RunWhole(t.Context(), seed); err != nil {
		t.Fatal(err)
	}
	return r, o
}

func finding(r runner.Result, code string) *checker.Finding {
	for i, f := range r.Report.Findings {
		if f.Property.Code() == code {
			return &r.Report.Findings[i]
		}
	}
	return nil
}
