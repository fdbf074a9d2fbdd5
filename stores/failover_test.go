//go:build linux

package stores

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/stores/internal/redis"
)

// onCluster returns the row of the debate whose key moves to another machine during a write pause, with the lock in a
// Redis Cluster whose replicas lag and whose clocks agree.
func onCluster(t *testing.T, by nemesis.Action, length time.Duration) scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Find("migration-clock-offset")
	if err != nil {
		t.Fatal(err)
	}
	if s, err = s.WithAll(
		scenarios.FieldValue{Path: "lock", Value: "{kind: expiring-key, ttl: 30s, drift_factor: 0.01, node_timeout: 500ms, margin: 50ms, retry: {min: 50ms, max: 100ms}}"},
		scenarios.FieldValue{Path: "clients[0].work", Value: "{min: 12s, max: 13s}"},
		scenarios.FieldValue{Path: "store", Value: "{product: redis-cluster, election: {min: 700ms, max: 2s}, commit: {min: 100ms, max: 100ms}, asynchronous: true}"},
	); err != nil {
		t.Fatal(err)
	}
	s.Nodes, s.Persistence, s.Replication, s.Connections, s.Horizon, s.Expect = 5, nemesis.Always, nil, nemesis.Connections{}, 2*patience, nil
	s.Plan[0].Action, s.Plan[0].End = by, nemesis.After(length)
	return s
}

// A planned failover of a cluster's master loses nothing, a master whose clients are paused stays the master, and a
// crash loses what no replica has, as in the simulator.
func TestFailoversOfClusterAsOfTheSimulatedStore(t *testing.T) {
	cluster := redis.Store{Cluster: true}.Servers()
	inStore := runner.Backend{Ability: cluster.Ability(), Product: cluster.Product, Open: runner.Opener(cluster.Open)}
	served := inStore
	served.InStore = func(string) (runner.Backend, bool) { return inStore, true }
	for name, c := range map[string]struct {
		by     nemesis.Action
		length time.Duration
		want   checker.Verdict
	}{
		"planned":      {&nemesis.Failover{Node: 1, Planned: true}, 50 * ms, checker.Holds},
		"client pause": {&nemesis.NodePause{Node: 1, ClientPause: true}, 10 * time.Second, checker.Holds},
		"crash":        {&nemesis.Crash{Node: 1}, 10 * time.Second, checker.Violated},
	} {
		for _, b := range []runner.Backend{simulated.Backend(), served} {
			e, err := runner.Prepare(b, onCluster(t, c.by, c.length))
			if err != nil {
				t.Fatal(err)
			}
			r, err := e.Run(t.Context(), 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			if f := r.Report.Finding(checker.Lease); f.Verdict != c.want {
				t.Errorf("%s, %s: lease exclusion %v, want %v: %s", name, b.Name, f.Verdict, c.want, f.Story())
			}
		}
	}
}
