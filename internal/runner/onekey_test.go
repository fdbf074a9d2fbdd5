package runner_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: no storm that leaves the node its keys and the clocks alone breaks a single
// node's lease exclusion. The same storms break setnx-del.
func TestSingleNodeInStorms(t *testing.T) {
	weights := nemesis.Weights{}
	for _, kind := range []nemesis.Kind{"crash", "power-loss", "shutdown", "pause", "kill", "partition", "latency", "loss", "reset", "node-pause", "node-error", "script-flush", "cancel", "bandwidth"} {
		weights[kind] = 1
	}
	weights["pause"] = 9 // what makes holders late
	for kind, want := range map[string]checker.Verdict{"single-node": checker.Holds, "setnx-del": checker.Violated} {
		s := find(t, "calm")
		s.Expect, s.Lock = nil, runner.Fitted(s.Lock, kind)
		c := scenarios.Client{Workload: "section", Resource: "r", Rounds: 8, ExtendEvery: 300 * ms, Work: span(50*ms, 900*ms), Think: span(0, 100*ms)}
		s.Clients = []scenarios.Client{c, c, c}
		s.Nodes, s.Persistence, s.Horizon = 1, nemesis.Always, time.Minute
		s.Generate = &nemesis.Generator{Faults: weights, Most: 15}
		if tally := runs(t, s, 60); tally.Observed(checker.Lease) != want {
			t.Errorf("%s: lease exclusion is %v, want %v: %s", kind, tally.Observed(checker.Lease), want, story(tally))
		}
	}
}
