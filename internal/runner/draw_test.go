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
)

// What is drawn stands beside the scenario's own plan, which stays as it was asked
// for; what was done holds no generator.
func TestDrawnPlan(t *testing.T) {
	s := find(t, "crash-restart")
	in := runner.InStorm(s, nemesis.Generator{Most: 5})
	r, err := runner.Run(context.Background(), simulator, in, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(r.Scenario, in) {
		t.Errorf("asked for %+v, and the result is of %+v", in, r.Scenario)
	}
	done := r.Done()
	if done.Generate != nil || done.Expect != nil {
		t.Errorf("generator %v, expectations %v", done.Generate, done.Expect)
	}
	if n := len(done.Plan); n < 3 || n > 7 || done.Plan[1] != s.Plan[1] {
		t.Errorf("plan %v", done.Plan)
	}
	if len(in.Plan) != 2 || len(find(t, "crash-restart").Plan) != 2 {
		t.Error("the scenario itself was changed")
	}
}

// A backend is asked for nothing that is impossible: what all kinds include is
// left out, what is named is refused, and so is a storm without a fault.
func TestGeneratorOfABackend(t *testing.T) {
	tin := runner.Backend{Ability: nemesis.Ability{Name: "tin", Kinds: []nemesis.Kind{"crash"}}}
	s := runner.InStorm(find(t, "calm"), nemesis.Generator{Most: 9})
	e := prepared(t, tin, s)
	for seed := range uint64(50) {
		drawn := s
		drawn.Plan, drawn.Generate = runner.Draw(e, seed), nil
		if _, err := runner.Prepare(tin, drawn); err != nil || len(drawn.Plan) == 0 {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	for want, faults := range map[string]nemesis.Weights{
		"generate.faults.pause: the tin backend cannot carry out a pause": {"all": 1, "pause": 1},
		"generate.faults: nothing is left to draw: the tin backend can":   {"all": 1, "crash": 0},
	} {
		s.Generate.Faults = faults
		if _, err := runner.Prepare(tin, s); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	s.Generate.Faults = nemesis.Weights{"failover": 1}
	const want = "generate.faults.failover: a failover is impossible here: no node has a replica: the setting has no replication"
	if _, err := runner.Prepare(simulator, s); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// The error of a run in a storm says which run it was.
func TestErrorOfARunNamesItsSeed(t *testing.T) {
	broken := runner.Backend{Ability: nemesis.Ability{Name: "tin", Kinds: []nemesis.Kind{"crash"}}, Open: func(context.Context, nemesis.Setting, uint64, history.Sink) (runner.World, error) {
		return nil, errors.New("rust")
	}}
	s := runner.InStorm(find(t, "calm"), nemesis.Generator{Most: 1})
	if _, err := (runner.Batch{Experiment: prepared(t, broken, s), First: 7, Runs: 1}).Run(context.Background()); err == nil || err.Error() != "seed 7: rust" {
		t.Errorf("got %v", err)
	}
}

// Law: delays and cut links alone never make Redlock violate lease exclusion,
// nor do clients that stand still or die.
func TestLeaseExclusionHoldsInsideTheAssumptions(t *testing.T) {
	inside := nemesis.Generator{Faults: nemesis.Weights{"partition": 1, "latency": 1, "pause": 1, "kill": 1}, Most: 6}
	for _, name := range []string{"calm", "slow-acquire", "minority-partition"} {
		tally := runs(t, runner.InStorm(find(t, name), inside), 300)
		if got := tally.Observed(checker.Lease); got != checker.Holds {
			first := tally.First[checker.Lease]
			t.Errorf("%s: %v, seed %d: %s", name, got, first.Seed, first.Report.Finding(checker.Lease).Story())
		}
	}
}
