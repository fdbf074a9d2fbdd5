package inevitable_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/search/inevitable"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// severalSuffice names the rows in which no single event decides: any of several clocks suffices.
var severalSuffice = map[string]bool{"clock-drift-beyond": true}

var few = inevitable.Options{Futures: 25, Runs: 1_500}

func analysed(t *testing.T, ctx context.Context, s scenarios.Scenario, p checker.Property, o inevitable.Options) inevitable.Analysis {
	t.Helper()
	a, err := inevitable.Analyse(ctx, simulated.Backend(), s, 1, runner.Course{}, p, o, nil)
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	return a
}

func row(t *testing.T, name string) scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// every is how many rows there are to each that is analysed: all would take a minute.
const every = 6

// Law: in the rows of the debate that violate a property, the largest jump is at what the checker
// names as the cause, if it names any. Before the run the probability is less than 1, and at its
// violation it is 1.
func TestJumpsAreTheNamedCauses(t *testing.T) {
	agree := 0
	for i, s := range scenarios.All() {
		if i%every != 0 {
			continue
		}
		r, err := runner.Run(t.Context(), simulated.Backend(), s, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Report.Findings {
			if f.Verdict != checker.Violated {
				continue
			}
			a := analysed(t, t.Context(), r.Executed(), f.Property, few)
			first, last := a.Points[0].Violated, a.Points[len(a.Points)-1].Violated
			if first.K == first.N || last.K != last.N {
				t.Errorf("%s: %s: from %v to %v", s.Name, f.Property, first, last)
			}
			switch a.Agreement {
			case inevitable.Agrees:
				agree++
			case inevitable.NoneNamed:
			case inevitable.NoJump:
				if !severalSuffice[s.Name] {
					t.Errorf("%s: %s: no jump", s.Name, f.Property)
				}
			default:
				t.Errorf("%s: %s: %s: %s", s.Name, f.Property, a.Agreement, strings.Join(a.Sentences(), " "))
			}
			break // of several properties the story is the same
		}
	}
	if agree < 40/every {
		t.Errorf("only %d rows agree", agree)
	}
}

// A fault without which nothing happens is necessary, and one that could be left out is irrelevant.
func TestButFor(t *testing.T) {
	for name, want := range map[string][]inevitable.Role{
		"crash-restart":        {inevitable.Necessary, inevitable.Necessary},
		"delayed-restart-jump": {inevitable.Necessary, inevitable.Irrelevant, inevitable.Necessary}, // the jump alone lets the key expire
	} {
		var got []inevitable.Role
		for _, b := range analysed(t, t.Context(), row(t, name), checker.Lease, few).ButFor {
			got = append(got, b.Role)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Of a fault on all nodes, each node is a fault of its own, with the number that it has in the history.
func TestButForOnAllNodes(t *testing.T) {
	s := row(t, "crash-restart")
	s.Plan = s.Plan.Clone()
	s.Plan[1].Action = &nemesis.Crash{Node: nemesis.AllNodes}
	all := analysed(t, t.Context(), s, checker.Lease, few).ButFor
	if len(all) != 1+s.Nodes || all[3].Fault != 4 || !strings.HasPrefix(all[3].What, "node 3 crashes") {
		t.Errorf("%+v", all)
	}
}

// Messages that decide are found: in this world a rival is in time only if neither its request nor the
// reply is slow.
func TestMessages(t *testing.T) {
	text := testkit.Read(t, "../../../docs/late-restart.yaml")
	file := filepath.Join(t.TempDir(), "world.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(text, "94.95ms", "74.95ms", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := scenarios.Load(file, func(scenarios.Scenario) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	seed := violating(t, s)
	o := few
	o.Messages = 50
	a, err := inevitable.Analyse(t.Context(), simulated.Backend(), s, seed, runner.Course{}, checker.Lease, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	var decide []string
	for _, m := range a.Messages {
		decide = append(decide, m.Message.String())
	}
	slices.Sort(decide)
	if want := []string{"reply 1 of node 1 to client 2", "request 1 of client 2 to node 1"}; !slices.Equal(decide, want) || a.Others == 0 {
		t.Errorf("%q, and %d others: want %q", decide, a.Others, want)
	}
}

// violating returns a seed whose run violates lease exclusion.
func violating(t *testing.T, s scenarios.Scenario) uint64 {
	t.Helper()
	for seed := range uint64(1_000) {
		if r, err := runner.Run(t.Context(), simulated.Backend(), s, seed+1, nil); err != nil {
			t.Fatal(err)
		} else if r.Report.Verdicts()[checker.Lease] == checker.Violated {
			return seed + 1
		}
	}
	t.Fatal("no run violates lease exclusion")
	return 0
}

// An analysis does not depend on the number of workers, is bounded, and keeps what is there when it
// is stopped.
func TestAnalysisIsBoundedAndStops(t *testing.T) {
	s := row(t, "crash-restart")
	if a, b := analysed(t, t.Context(), s, checker.Lease, few), analysed(t, t.Context(), s, checker.Lease, few); !reflect.DeepEqual(a, b) {
		t.Errorf("%+v is not %+v", a, b)
	}
	if a := analysed(t, t.Context(), s, checker.Lease, inevitable.Options{Futures: 10, Runs: 30}); len(a.Points) > 3 {
		t.Errorf("%d points", len(a.Points))
	}
	ctx, stop := context.WithCancel(t.Context())
	a, err := inevitable.Analyse(ctx, simulated.Backend(), s, 1, runner.Course{}, checker.Lease, few, func(inevitable.Analysis) { stop() })
	if err != nil || !a.Stopped || len(a.Points) == 0 {
		t.Errorf("stopped: %+v, %v", a, err)
	}
}

func TestWhatCannotBeAnalysed(t *testing.T) {
	for says, b := range map[string]func() error{
		"the run does not violate lease": func() error {
			_, err := inevitable.Analyse(t.Context(), simulated.Backend(), row(t, "calm"), 1, runner.Course{}, checker.Lease, few, nil)
			return err
		},
		"cannot branch": func() error {
			_, err := inevitable.Analyse(t.Context(), runner.Backend{}, row(t, "calm"), 1, runner.Course{}, checker.Lease, few, nil)
			return err
		},
	} {
		if err := b(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: want %s", err, says)
		}
	}
}
