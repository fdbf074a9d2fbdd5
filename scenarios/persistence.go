package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
)

// persistence is what nodes keep, and lose, of what they have written.
var persistence = []Row{
	{Scenario: Scenario{
		Name:    "evicted-key",
		Summary: "one node of the holder's quorum is short of memory and evicts its keys",
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, cutOff(1, 4, 5), nemesis.Fault{Action: &nemesis.Evict{Node: 3}, Start: afterGrant(20 * ms)}),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	}, Cures: []Change{
		{"a node that has no key", instead("evict", &nemesis.Evict{Node: 5})},
	}},
	{Scenario: Scenario{
		Name:    "rdb-restart",
		Summary: "one node of the holder's quorum starts again from a snapshot of before the grant",
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, cutOff(1, 4, 5), nemesis.Fault{
			Action: &nemesis.OldSnapshot{Node: 3, Age: 50 * ms},
			Start:  afterGrant(20 * ms),
			End:    nemesis.After(0),
		}),
		Bounds: quickBounds,
		Expect: expect(violated, violated, violated, na),
	}, Cures: []Change{
		{"a snapshot of just now", instead("old-snapshot", &nemesis.OldSnapshot{Node: 3, Age: 1 * ms})},
	}},
	{Scenario: Scenario{
		Name:    "node-pause",
		Summary: "one node of the holder's quorum stands still for a while, and goes on with all its keys",
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, cutOff(1, 4, 5), nemesis.Fault{
			Action: &nemesis.NodePause{Node: 3},
			Start:  afterGrant(20 * ms),
			End:    nemesis.After(300 * ms),
		}),
		Bounds: quickBounds,
		Expect: expect(holds, holds, holds, na),
	}, Damages: []Damage{
		{checker.Lease, "a node that dies", instead("node-pause", &nemesis.Crash{Node: 3})},
	}},
	{Scenario: Scenario{
		Name:    "aof-everysec",
		Summary: "a node that syncs once a second loses power, and is back at once without the key",
		Claims:  Claims{Antirez: "unsafe"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: keeping(nemesis.EverySecond, five(5*time.Second, cutOff(1, 4, 5), powerLoss(3, afterGrant(20*ms)))),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	}, Cures: []Change{
		{"a process that dies, and not its machine", instead("power-loss", &nemesis.Crash{Node: 3})},
		{"a disk that is synced at once", persist(nemesis.Always)},
	}},
	{VariantOf: "aof-everysec", Scenario: Scenario{
		Name:    "aof-everysec-extension",
		Summary: "the same when the holder has extended: the key is back, with the expiry of before",
		Claims:  Claims{Antirez: "unsafe"},
		Lock:    lasting(quickLock, 3*time.Second),
		Clients: []Client{
			extending(once(exactly(0), span(3600*ms, 3800*ms)), 2*time.Second),
			once(span(2700*ms, 2900*ms), span(20*ms, 50*ms)),
		},
		Setting: keeping(nemesis.EverySecond, five(8*time.Second, cutOff(1, 4, 5), powerLoss(3, afterExtension(20*ms)))),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),

		SlipMargin: 20 * ms, // the later the power goes, the likelier a sync comes first
	}, Cures: []Change{
		{"a disk that is synced at once", persist(nemesis.Always)},
	}},
	{Scenario: Scenario{
		Name:    "aof-always",
		Summary: "a node that syncs each write before it answers loses power: nothing that it has acknowledged is gone",
		Claims:  Claims{Antirez: "safe"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: syncing(span(2*ms, 10*ms), keeping(nemesis.Always, five(5*time.Second, cutOff(1, 4, 5), powerLoss(3, afterGrant(20*ms))))),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	}, Damages: []Damage{
		{checker.Lease, "no persistence", persist(nemesis.Nothing)},
	}},
	{Scenario: Scenario{
		Name:    "clean-shutdown",
		Summary: "a node with an append-only file is shut down and is back while the validity lasts",
		Claims:  Claims{Antirez: "safe"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: keeping(nemesis.EverySecond, five(5*time.Second, cutOff(1, 4, 5), nemesis.Fault{
			Action: &nemesis.Shutdown{Node: 3},
			Start:  afterGrant(20 * ms),
			End:    nemesis.After(300 * ms),
		})),
		Bounds: quickBounds,
		Expect: expect(holds, holds, holds, na),
	}, Damages: []Damage{
		{checker.Lease, "no persistence", persist(nemesis.Nothing)},
	}},
	{Scenario: Scenario{
		Name:    "failover",
		Summary: "one master dies before the key has come to its asynchronous replica, which takes its place",
		Claims:  Claims{Antirez: "unsafe"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: masterAndReplica(5*time.Second, 100*ms, nemesis.Fault{
			Action: &nemesis.Failover{Node: 1},
			Start:  afterGrant(20 * ms),
			End:    nemesis.After(0),
		}),
		Bounds: quickBounds,
		Expect: expect(violated, violated, violated, na),
	}, Cures: []Change{
		{"a replica that is nearly in step", func(s *Scenario) { s.Replication = &nemesis.Distribution{Range: span(0, 1*ms)} }},
	}},
}

// powerLoss takes a node's machine away, which is back at once.
func powerLoss(node int, at nemesis.Trigger) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.PowerLoss{Node: node}, Start: at, End: nemesis.After(0)}
}

func keeping(p nemesis.Persistence, s nemesis.Setting) nemesis.Setting {
	s.Persistence = p
	return s
}

func syncing(each nemesis.Range, s nemesis.Setting) nemesis.Setting {
	s.Sync = &nemesis.Distribution{Range: each}
	return s
}

// masterAndReplica is a world of one node, whose changes come to a replica
// later.
func masterAndReplica(horizon, lag time.Duration, plan ...nemesis.Fault) nemesis.Setting {
	s := five(horizon, plan...)
	s.Nodes = 1
	s.Replication = &nemesis.Distribution{Range: exactly(lag)}
	return s
}
