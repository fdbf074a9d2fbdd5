package runner_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// The tables of a scenario's distributions are made once, and not for each world; and
// the scenario, which others share, knows nothing of them.
func TestWorldsShareTables(t *testing.T) {
	scenario := func() scenarios.Scenario {
		s := find(t, "calm")
		s.Latency.LogNormal = &nemesis.LogNormal{Median: ms, Sigma: 0.5}
		s.Plan = nemesis.Plan{{Action: &nemesis.Latency{Add: s.Latency}}}
		return s
	}
	var usual, added []*nemesis.Table
	backend := simulator
	backend.Open = func(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (runner.World, error) {
		usual = append(usual, s.Latency.Table())
		added = append(added, s.Plan[0].Action.(*nemesis.Latency).Add.Table())
		return simulator.Open(ctx, s, seed, sink)
	}
	e := prepared(t, backend, scenario())
	for seed := range uint64(2) {
		if _, err := e.Run(t.Context(), seed, nil); err != nil {
			t.Fatal(err)
		}
	}
	if usual[0] != usual[1] || added[0] != added[1] {
		t.Error("each world has tables of its own")
	}
	if !reflect.DeepEqual(e.Scenario(), scenario()) {
		t.Errorf("the scenario is now %+v", e.Scenario())
	}
}

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
		for _, s := range []scenarios.Scenario{s, runner.InStorm(s, nemesis.Generator{Most: 5})} {
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
