package runner_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: an experiment that is run again and again, with other runs and other experiments
// beside it, gives the runs that each seed gives by itself: with every row and every lock,
// with drawn faults and without. (Under the race detector: that they share nothing that
// changes.)
func TestRunsOfAnExperimentAreIndependent(t *testing.T) {
	all := scenarios.All()
	for _, c := range scenarios.Contenders() {
		all = append(all, scenarios.Trials()[0].Enter(c))
	}
	for _, s := range all {
		for _, s := range []scenarios.Scenario{s, runner.WithGenerator(s, nemesis.Generator{Most: 5})} {
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				wantAlone := func(shared runner.Result) {
					alone, err := runner.Run(t.Context(), simulator, s, shared.Seed, nil)
					if err != nil || shared.TraceHash != alone.TraceHash || !reflect.DeepEqual(shared.Plan, alone.Plan) {
						t.Errorf("seed %d: %x and %x, %v", shared.Seed, shared.TraceHash, alone.TraceHash, err)
					}
				}
				tally, err := runner.Batch{Experiment: prepared(t, simulator, s), Runs: 2, Each: wantAlone}.Run(t.Context())
				if err != nil || tally.Runs != 2 {
					t.Errorf("%d runs, %v", tally.Runs, err)
				}
			})
		}
	}
}

// Law: a run whose own history contradicts itself ends with an error, and not with a
// verdict.
func TestARunThatContradictsItselfIsAnError(t *testing.T) {
	backend := simulator
	backend.Open = func(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (runner.World, error) {
		return simulator.Open(ctx, s, seed, twice{sink})
	}
	_, err := prepared(t, backend, find(t, "calm")).Run(t.Context(), 1, nil)
	var c *checker.Contradiction
	if !errors.As(err, &c) || !strings.Contains(c.What, "which has none under way") {
		t.Errorf("a release returned twice: %v", err)
	}
}

// twice records what releases return a second time.
type twice struct{ history.Sink }

func (s twice) Record(e *history.Event) {
	s.Sink.Record(e)
	if e.Kind == history.Released {
		s.Sink.Record(e)
	}
}

// Where a watch reports keys, some violations of backing are seen, but not all: none is expected where the row has
// none, and either verdict where it has one.
func TestExpectationOfBackingThatIsWatched(t *testing.T) {
	watched := simulator
	watched.Watched = true
	for row, want := range map[string]scenarios.Match{"calm": scenarios.Contradicted, "evicted-single-key": scenarios.Met} {
		e := prepared(t, watched, find(t, row))
		if got := e.Scenario().Expect.Judge(checker.Backing, checker.Violated); got != want {
			t.Errorf("%s: a violation is %v, want %v", row, got, want)
		}
		if got := e.Scenario().Expect.Judge(checker.Backing, checker.Holds); got == scenarios.Contradicted {
			t.Errorf("%s: that it holds is a contradiction", row)
		}
	}
}

// The error of a run in a storm says which run it was.
func TestErrorOfARunNamesItsSeed(t *testing.T) {
	broken := runner.Backend{Ability: nemesis.Ability{Name: "tin", Kinds: []nemesis.Kind{"crash"}}, Open: func(context.Context, nemesis.Setting, uint64, history.Sink) (runner.World, error) {
		return nil, errors.New("rust")
	}}
	s := runner.WithGenerator(find(t, "calm"), nemesis.Generator{Most: 1})
	if _, err := (runner.Batch{Experiment: prepared(t, broken, s), First: 7, Runs: 1}).Run(context.Background()); err == nil || err.Error() != "seed 7: rust" {
		t.Errorf("got %v", err)
	}
}

// Law: delays and cut links alone never make Redlock violate lease exclusion,
// nor do clients that stand still or die.
func TestLeaseExclusionHoldsInsideTheAssumptions(t *testing.T) {
	inside := nemesis.Generator{Faults: nemesis.Weights{"partition": 1, "latency": 1, "pause": 1, "kill": 1}, Most: 6}
	for _, name := range []string{"calm", "slow-acquire", "minority-partition"} {
		tally := runs(t, runner.WithGenerator(find(t, name), inside), 40)
		if got := tally.Observed(checker.Lease); got != checker.Holds {
			first := tally.First[checker.Lease]
			t.Errorf("%s: %v, seed %d: %s", name, got, first.Seed, first.Report.Finding(checker.Lease).Story())
		}
	}
}

const ms = time.Millisecond

func find(t testing.TB, name string) scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// runs runs seeds 1 to n of a scenario in the simulator.
func runs(t *testing.T, s scenarios.Scenario, n int) runner.Tally {
	t.Helper()
	tally, err := runner.Batch{Experiment: prepared(t, simulator, s), First: 1, Runs: n}.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return tally
}

// violates reports whether one of the first n runs of a scenario violates a property. It
// looks at no more of them than it has to.
func violates(t *testing.T, s scenarios.Scenario, p checker.Property, n int) bool {
	t.Helper()
	const step = 20
	for first := 1; first <= n; first += step {
		tally, err := runner.Batch{Experiment: prepared(t, simulator, s), First: uint64(first), Runs: min(step, n-first+1)}.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if tally.Seen[p][checker.Violated] > 0 {
			return true
		}
	}
	return false
}

// A run that is stopped is judged as far as it came, and never green.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := runner.Run(ctx, simulator, cycles(1, 1, 1_000_000), 1, nil)
	if err != nil || !r.Interrupted || r.AsExpected() {
		t.Errorf("interrupted %v, as expected %v, error %v", r.Interrupted, r.AsExpected(), err)
	}
	for _, f := range r.Report.Findings {
		if f.Verdict != checker.Unknown {
			t.Errorf("a run that was stopped before it began says of %s that it is %v, want unknown", f.Property.Title(), f.Verdict)
		}
	}
	if r.Report.Cut != "stopped: context canceled" || (runner.Result{Report: checker.Report{Cut: "no progress"}}).AsExpected() {
		t.Errorf("cut because of %q", r.Report.Cut)
	}
	tally, err := runner.Batch{Experiment: prepared(t, simulator, find(t, "calm")), Runs: 10}.Run(ctx)
	if err != nil || tally.Conclusion() != runner.Undecided {
		t.Errorf("conclusion %v, error %v", tally.Conclusion(), err)
	}
}

func TestPrepareRefuses(t *testing.T) {
	tin := runner.Backend{Ability: nemesis.Ability{Name: "tin", Kinds: []nemesis.Kind{"crash", "pause"}}}
	locks, _ := runner.Locks()
	cases := map[string]func(s *scenarios.Scenario){
		fmt.Sprintf(`lock.kind: unknown lock "paxos": there is %v`, locks):       func(s *scenarios.Scenario) { s.Lock.Kind = "paxos" },
		`lock.fence: unknown value "oracle": want quorum, increment or one-node`: func(s *scenarios.Scenario) { s.Lock.Fence = "oracle" },
		`lock.linger: single-node has no use for it`:                             func(s *scenarios.Scenario) { s.Lock.Kind = "single-node" },
		`lock.node_timeout: 0s: want more than 0s`: func(s *scenarios.Scenario) {
			s.Lock.Kind, s.Lock.Linger, s.Lock.NodeTimeout = "setnx-del", 0, 0
		},
		`lock.ttl: 0s: want at least 1ms`: func(s *scenarios.Scenario) { s.Lock.TTL = 0 },
		`lock: redlock: impossible setting: TTL 1.5ms: want whole milliseconds, the unit of expiry in Redis`: func(s *scenarios.Scenario) { s.Lock.TTL = 1500 * time.Microsecond },
		`clients[0].workload: unknown workload "sleep": there is [hold section checked verified verified-serializable posted misuse]`: func(s *scenarios.Scenario) {
			s.Clients = append([]scenarios.Client(nil), s.Clients...)
			s.Clients[0].Workload = "sleep"
		},
		`clients[1].workload: verified needs a lock in a store, which redlock is not`: func(s *scenarios.Scenario) {
			s.Clients = append([]scenarios.Client(nil), s.Clients...)
			s.Clients[1].Workload = "verified"
		},
		`plan[0].partition: the tin backend cannot carry out fault 1 of the plan, a partition`: func(*scenarios.Scenario) {},
		`plan[0].pause: the tin backend cannot carry out fault 1 of the plan, a pause with "first: timers"`: func(s *scenarios.Scenario) {
			s.Plan = nemesis.Plan{{Action: &nemesis.Pause{Client: 1, First: nemesis.TimersFirst}}}
		},
		`plan[1].crash.node: there is no node 3: they are numbered 1 to 2`: func(s *scenarios.Scenario) {
			s.Nodes = 2
			s.Plan = s.Plan[1:]
			s.Plan = append(nemesis.Plan{{Action: &nemesis.Pause{Client: 1}}}, s.Plan...)
		},
	}
	for want, change := range cases {
		s := find(t, "crash-restart")
		change(&s)
		_, err := runner.Prepare(tin, s)
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		var unfit *runner.UnfitError
		if is := strings.Contains(want, "the tin backend"); errors.As(err, &unfit) != is {
			t.Errorf("%v: is the backend's affair: %v", err, !is)
		}
	}
}

func TestConclusion(t *testing.T) {
	expect := scenarios.Expectations{checker.Lease: checker.Holds, checker.Section: checker.Violated}
	result := func(lease, section, other checker.Verdict) runner.Result {
		return runner.Result{
			Scenario: scenarios.Scenario{Expect: expect},
			Report: checker.Report{Findings: []checker.Finding{
				{Property: checker.Lease, Verdict: lease},
				{Property: checker.Section, Verdict: section},
				{Property: checker.Contract, Verdict: other},
			}},
		}
	}
	const h, v, u, n = checker.Holds, checker.Violated, checker.Unknown, checker.NotApplicable
	cases := []struct {
		name    string
		results []runner.Result
		want    runner.Conclusion
	}{
		{"shown at once", []runner.Result{result(h, v, n)}, runner.AsExpected},
		{"shown by one of two", []runner.Result{result(h, h, n), result(h, v, h)}, runner.AsExpected},
		{"not shown", []runner.Result{result(h, h, n), result(h, h, n)}, runner.Undecided},
		{"no run can mend it", []runner.Result{result(h, v, n), result(v, v, n)}, runner.Contradiction},
		{"left open", []runner.Result{result(u, v, n)}, runner.Undecided},
		{"nothing to judge where something should hold", []runner.Result{result(n, v, n)}, runner.Contradiction},
		{"nothing to judge in one run of two", []runner.Result{result(h, v, n), result(n, v, n)}, runner.Contradiction},
		{"a violation that nobody spoke of", []runner.Result{result(h, v, v)}, runner.Contradiction},
		{"unknown that nobody spoke of", []runner.Result{result(h, v, u)}, runner.Undecided},
		{"contradiction before undecided", []runner.Result{result(v, h, u)}, runner.Contradiction},
		{"no runs", nil, runner.Undecided},
	}
	for _, c := range cases {
		tally := runner.NewTally(scenarios.Scenario{Expect: expect})
		for _, r := range c.results {
			tally.Add(r)
		}
		if got := tally.Conclusion(); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// If unknown is expected, no verdict contradicts, and nothing remains to be shown.
func TestConclusionOfWhatIsLeftOpen(t *testing.T) {
	s := scenarios.Scenario{Expect: scenarios.Expectations{checker.Lease: checker.Unknown}}
	for _, v := range []checker.Verdict{checker.Holds, checker.Violated, checker.Unknown, checker.NotApplicable} {
		r := runner.Result{Scenario: s, Report: checker.Report{Findings: []checker.Finding{{Property: checker.Lease, Verdict: v}}}}
		tally := runner.NewTally(s)
		tally.Add(r)
		if tally.Conclusion() != runner.AsExpected || !r.AsExpected() || r.Contradicts() {
			t.Errorf("%v is %v", v, tally.Conclusion())
		}
	}
}
