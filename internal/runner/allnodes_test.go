package runner_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: a fault on all nodes is carried out as if one on each of them were written, with the same numbers in the
// history, and also beside faults that are drawn. The result keeps it as it is written, and repeats the run.
func TestFaultOnAllNodesIsOneOnEach(t *testing.T) {
	m := func(node int) nemesis.Machine { return nemesis.Machine{Node: node} }
	lasts := nemesis.After(300 * ms)
	cases := []struct {
		on  func(node int) nemesis.Action
		end *nemesis.Trigger
	}{
		{func(n int) nemesis.Action { return &nemesis.Crash{Node: n} }, lasts},
		{func(n int) nemesis.Action { return &nemesis.PowerLoss{Node: n} }, lasts},
		{func(n int) nemesis.Action { return &nemesis.Shutdown{Node: n} }, new(nemesis.When(2, env.StepAcquire, ms))},
		{func(n int) nemesis.Action { return &nemesis.Failover{Node: n} }, lasts},
		{func(n int) nemesis.Action { return &nemesis.OldSnapshot{Node: n, Age: time.Second} }, lasts},
		{func(n int) nemesis.Action { return &nemesis.NodePause{Node: n} }, lasts},
		{func(n int) nemesis.Action { return &nemesis.Evict{Node: n} }, nil},
		{func(n int) nemesis.Action { return &nemesis.ScriptFlush{Node: n} }, nil},
		{func(n int) nemesis.Action { return &nemesis.VMRestore{Node: n, Age: ms} }, lasts},
		{func(n int) nemesis.Action { return &nemesis.SplitBrain{Node: n, Clients: []int{1}} }, lasts},
		{func(n int) nemesis.Action { return &nemesis.ClockJump{Machine: m(n), By: time.Second} }, nil},
		{func(n int) nemesis.Action { return &nemesis.ClockRate{Machine: m(n), PPM: 9000} }, lasts},
		{func(n int) nemesis.Action { return &nemesis.ClockSlew{Machine: m(n), By: ms, PPM: 9000} }, nil},
		{func(n int) nemesis.Action {
			return &nemesis.ClockStrobe{Machine: m(n), By: time.Second, Period: 10 * ms}
		}, lasts},
		{func(n int) nemesis.Action { return &nemesis.ClockFreeze{Machine: m(n)} }, lasts},
	}
	tried := map[nemesis.Kind]bool{}
	for _, c := range cases {
		tried[c.on(1).Kind()] = true
	}
	for _, a := range nemesis.Actions() {
		if reflect.ValueOf(a).Elem().FieldByName("Node").IsValid() && !tried[a.Kind()] {
			t.Errorf("%s is not tried", a.Kind())
		}
	}
	for _, nodes := range []int{3, 5} {
		for _, c := range cases {
			s := brief(t)
			s.Nodes, s.Persistence, s.Replication = nodes, nemesis.EverySecond, &nemesis.Distribution{Range: nemesis.Range{Max: 20 * ms}}
			s = runner.WithGenerator(s, nemesis.Generator{Faults: nemesis.Weights{"latency": 1, "pause": 1}, Most: 2})
			fault := func(node int) nemesis.Fault {
				return nemesis.Fault{Action: c.on(node), Start: nemesis.When(1, env.StepGranted, 5*ms), End: c.end}
			}
			s.Plan = nemesis.Plan{fault(nemesis.AllNodes), {Action: &nemesis.Pause{Client: 2}, Start: nemesis.At(ms), End: nemesis.After(ms)}}
			each := s
			each.Plan = s.Plan[1:]
			for node := nodes; node > 0; node-- {
				each.Plan = slices.Concat(nemesis.Plan{fault(node)}, each.Plan)
			}
			for seed := uint64(1); seed <= 3; seed++ {
				got, gotEvents := historyOf(t, s, seed)
				want, wantEvents := historyOf(t, each, seed)
				if got.TraceHash != want.TraceHash || !reflect.DeepEqual(got.Plan, want.Plan) || !reflect.DeepEqual(gotEvents, wantEvents) {
					t.Fatalf("%v, %d nodes, seed %d: trace %x, plan %v\nwritten out: trace %x, plan %v", s.Plan[0], nodes, seed, got.TraceHash, got.Plan, want.TraceHash, want.Plan)
				}
				done := got.Executed()
				if !reflect.DeepEqual(done.Plan[:2], s.Plan) || len(done.World().Plan) != len(got.Plan) {
					t.Fatalf("%v is kept as %v", s.Plan, done.Plan)
				}
				if again, _ := historyOf(t, done, seed); again.TraceHash != got.TraceHash || !reflect.DeepEqual(again.Plan, got.Plan) {
					t.Errorf("%v, seed %d: the result repeats another run", s.Plan, seed)
				}
			}
		}
	}
}

// historyOf runs a scenario, and returns its history, too.
func historyOf(t *testing.T, s scenarios.Scenario, seed uint64) (runner.Result, []history.Event) {
	t.Helper()
	var log history.Log
	r, err := runner.Run(t.Context(), simulator, s, seed, &log)
	if err != nil {
		t.Fatalf("%v: %v", s.Plan, err)
	}
	return r, log
}
