package runner_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// inStore is a scenario of clients who want a lock that lives in a store of three
// nodes, with a TTL of a second.
func inStore(t *testing.T, kind string, clients ...scenarios.Client) scenarios.Scenario {
	s := find(t, "calm")
	s.Name, s.Expect = "in-store", nil
	s.Lock.Kind, s.Lock.Linger = kind, 0
	if slices.Contains(append([]string{"etcd-unchecked"}, sessionLocks...), kind) {
		s.Lock.Heartbeat = 300 * ms
	}
	s.Clients = clients
	s.Nodes, s.Persistence = 3, nemesis.Always
	s.Store = &nemesis.Store{
		Election: nemesis.Distribution{Range: nemesis.Range{Min: 100 * ms, Max: 200 * ms}},
		Commit:   nemesis.Distribution{Range: nemesis.Range{Min: ms, Max: 3 * ms}},
	}
	s.Horizon = 60 * time.Second
	s.Bounds = history.Bounds{Acquire: 400 * ms, Extend: 200 * ms, Release: 200 * ms, Grant: 3 * time.Second}
	return s
}

// sessionLocks are the locks on sessions, storeLocks all locks in a store, except the broken one.
var (
	sessionLocks = []string{"zookeeper", "etcd", "chubby", "fenced"}
	storeLocks   = append([]string{"database-row", "expiring-key"}, sessionLocks...)
)

func each(t *testing.T, kinds []string, test func(t *testing.T, kind string)) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, kind)
		})
	}
}

func span(lo, hi time.Duration) nemesis.Range { return nemesis.Range{Min: lo, Max: hi} }

// sections is a client that does so many sections.
func sections(rounds int, start, work, think nemesis.Range) scenarios.Client {
	return scenarios.Client{Workload: "section", Resource: "r", Start: start, Work: work, Think: think, Rounds: rounds}
}

// holderAndRivals are a client that works for 300 ms under the lock, and others
// that want it meanwhile, each once.
func holderAndRivals(rivals int) []scenarios.Client {
	clients := []scenarios.Client{sections(1, span(0, 0), span(300*ms, 300*ms), span(0, 0))}
	for range rivals {
		clients = append(clients, sections(1, span(100*ms, 200*ms), span(20*ms, 50*ms), span(0, 0)))
	}
	return clients
}

type verdicts = map[checker.Property]checker.Verdict

// Law: what a lock in a store cannot do without is missed before the run.
func TestStoreLocksWantARetryDelay(t *testing.T) {
	each(t, storeLocks, func(t *testing.T, kind string) {
		s := inStore(t, kind, sections(1, span(0, 0), span(0, 0), span(0, 0)))
		s.Lock.Tries = 1
		if _, err := runner.Prepare(simulated.Backend(), s); err != nil {
			t.Fatal(err)
		}
		s.Lock.Retry = nemesis.Range{}
		_, err := runner.Prepare(simulated.Backend(), s)
		if wrong := new(nemesis.FieldError); !errors.As(err, &wrong) || wrong.Path != "lock.retry" {
			t.Errorf("%v: want lock.retry to be wrong", err)
		}
	})
}

// Real servers of a product reject a mode of replication or durability that they do not have, by the
// name of its field. The simulator has all of them.
func TestProductsRejectModesTheyDoNotHave(t *testing.T) {
	tin := simulator
	tin.Name, tin.Exact = "tin", false
	tin.InStore = func(string) (runner.Backend, bool) { return tin, true }
	for _, c := range []struct {
		kind string
		mode nemesis.Store
		want string // the field; "": it is accepted
	}{
		{"etcd", nemesis.Store{Durability: nemesis.Flushed}, ""},
		{"etcd", nemesis.Store{Durability: nemesis.RemoteWrite}, "store.durability"},
		{"etcd", nemesis.Store{Asynchronous: true}, "store.asynchronous"},
		{"expiring-key", nemesis.Store{Durability: nemesis.Off}, "store.durability"},
		{"expiring-key", nemesis.Store{Durability: nemesis.Off, Product: "postgresql"}, ""},
		{"expiring-key", nemesis.Store{Asynchronous: true, Product: "redis-sentinel"}, ""},
		{"expiring-key", nemesis.Store{Asynchronous: true, Product: "redis-cluster"}, ""},
		{"expiring-key", nemesis.Store{Durability: nemesis.Flushed, Product: "redis-cluster"}, "store.durability"},
		{"database-row", nemesis.Store{Durability: nemesis.Off}, ""},
		{"database-row", nemesis.Store{Durability: nemesis.RemoteWrite, Asynchronous: true}, ""},
	} {
		s := inStore(t, c.kind, holderAndRivals(1)...)
		if c.kind == "expiring-key" {
			s.Lock.Heartbeat = 0
		}
		s.Store.Durability, s.Store.Asynchronous, s.Store.Product = c.mode.Durability, c.mode.Asynchronous, c.mode.Product
		if _, err := runner.Prepare(simulator, s); err != nil {
			t.Errorf("%s with %+v, simulated: %v", c.kind, c.mode, err)
		}
		_, err := runner.Prepare(tin, s)
		var unfit *runner.UnfitError
		if errors.As(err, &unfit) != (c.want != "") || unfit != nil && unfit.Path != c.want || unfit == nil && err != nil {
			t.Errorf("%s with %+v: %v, want an error about %q", c.kind, c.mode, err, c.want)
		}
	}
}
