package redlock_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

// stormy is a plan of faults of the network, and of nodes that forget nothing.
func stormy(t *testing.T, s nemesis.Setting, seed uint64) nemesis.Plan {
	g, err := nemesis.Generator{Faults: nemesis.Weights{
		"partition": 1, "latency": 1, "loss": 1, "reset": 1, "bandwidth": 1, "node-pause": 1, "crash": 1, "script-flush": 1,
	}, Most: 6}.Only(s, nemesis.Ability{Name: "sim", Kinds: sim.Faults(), Features: sim.Features()})
	if err != nil {
		t.Fatal(err)
	}
	return g.Plan(s, time.Second, nemesis.Stream(seed, nemesis.PlanStream))
}

// Law: whatever the network does, two who take the same resources at once, named in
// different orders, are never in at the same time, while their contexts live, and
// both come through in the end.
func TestLockAllExcludesInEveryStorm(t *testing.T) {
	const storms, hopeless = 100, 7 // clients: a plan can keep a majority away for good
	stuck := 0
	for seed := range uint64(storms) {
		s := nemesis.Setting{
			Nodes: 5, Clients: 2, Persistence: nemesis.Always, Horizon: 60 * time.Second,
			Latency: nemesis.Distribution{Range: nemesis.Range{Min: 200 * time.Microsecond, Max: ms}},
		}
		s.Plan = stormy(t, s, seed)
		stuck += s.Clients - takeBoth(t, s, seed)
		if stuck > hopeless { // each of them costs a minute of tries
			t.Fatalf("%d of %d clients did not come through", stuck, (int(seed)+1)*s.Clients)
		}
	}
}

// takeBoth lets two clients take two resources eight times, and returns how many of
// them came to the end of it.
func takeBoth(t *testing.T, s nemesis.Setting, seed uint64) (through int) {
	t.Helper()
	w, err := sim.Open(context.Background(), s, seed, new(history.Log))
	if err != nil {
		t.Fatal(err)
	}
	var inside [3]*redlock.Holds // by client
	err = w.Run(context.Background(), func(client int) {
		m, err := redlock.New(config(), w.Runtime(client), w.Nodes(client), observer{w, client})
		if err != nil {
			t.Error(err)
			return
		}
		b := &bench{World: w, t: t}
		names := []string{"a", "b"}
		if client == 2 {
			names = []string{"b", "a"}
		}
		for range 8 {
			holds, err := m.LockAll(context.Background(), names...)
			if err != nil {
				continue // one was lost while the other was acquired
			}
			if other := inside[3-client]; other != nil && other.Context().Err() == nil {
				t.Errorf("seed %d: both are in at %v", seed, b.at())
			}
			inside[client] = holds
			b.sleep(client, 20*ms)
			inside[client] = nil
			_ = holds.Release(context.Background())
		}
		through++
	})
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
	return through
}

// All locks of several are released, whatever becomes of one of them.
func TestReleaseGoesOnAfterAnError(t *testing.T) {
	b := play(t, nil, func(b *bench, m *redlock.Mutex) {
		holds, err := m.LockAll(context.Background(), "a", "b", "c")
		b.wantError("lock", err, nil)
		for _, h := range holds.Each()[1:] { // the last ones are the first to be released
			b.wantError("release of one", h.Release(context.Background()), nil)
		}
		err = holds.Release(context.Background())
		b.wantError("release of all", err, redlock.ErrReleased)
		for _, name := range []string{`"b"`, `"c"`} {
			b.want("named in "+err.Error()+": "+name, strings.Contains(err.Error(), name), true)
		}
		b.wantError("close", m.Close(context.Background()), nil)
	})
	b.want("keys left", b.keys(), 0)
}
