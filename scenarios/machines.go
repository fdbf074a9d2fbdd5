package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// machines is what becomes of keys by the disk of a node, by a restore of its whole machine,
// and by a second master.
var machines = []Row{
	{Scenario: Scenario{
		Name:    "stuck-sync",
		Summary: "as aof-everysec, more than a second after the grant: the disk has been stuck, and Redis goes on answering",
		Lock:    lasting(quickLock, 3*time.Second),
		Clients: slowly,
		Setting: keeping(nemesis.EverySecond, five(8*time.Second, cutOff(1, 4, 5), stuckSync(afterGrant(1200*ms)))),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	}, Cures: []Change{
		{"a disk that is not stuck", instead("power-loss", &nemesis.PowerLoss{Node: 3})},
	}},
	{Scenario: Scenario{
		Name:    "torn-tail",
		Summary: "as aof-always, and the power goes within a record: the node loads all records before it",
		Lock:    quickLock,
		Clients: rivals,
		Setting: keeping(nemesis.Always, five(5*time.Second, cutOff(1, 4, 5), nemesis.Fault{
			Action: &nemesis.PowerLoss{Node: 3, TornTail: nemesis.TornLoad},
			Start:  afterGrant(20 * ms),
			End:    nemesis.After(0),
		})),
		Bounds: quickBounds,
		Expect: expect(holds, holds, holds, na),
	}, Damages: []Damage{
		{checker.Lease, "a node that starts from what it had before the grant", instead("power-loss", &nemesis.OldSnapshot{Node: 3, Age: 50 * ms})},
	}},
	{VariantOf: "torn-tail", Scenario: Scenario{
		Name:    "torn-tail-refused",
		Summary: "the node refuses such a file (aof-load-truncated no), and stays away",
		Lock:    quickLock,
		Clients: rivals,
		Setting: keeping(nemesis.Always, five(5*time.Second, cutOff(1, 4, 5), nemesis.Fault{
			Action: &nemesis.PowerLoss{Node: 3, TornTail: nemesis.TornRefuse},
			Start:  afterGrant(20 * ms),
		})),
		Bounds: quickBounds,
		Expect: expect(holds, holds, holds, na),
	}, Damages: []Damage{
		{checker.Lease, "somebody who deletes the file and starts the node", func(s *Scenario) {
			each("power-loss", func(f *nemesis.Fault) {
				f.Action, f.End = &nemesis.OldSnapshot{Node: 3, Age: time.Minute}, nemesis.After(0)
			})(s)
		}},
	}},
	{Scenario: Scenario{
		Name:    "vm-restore",
		Summary: "the machine of one node of the holder's quorum is restored from a memory snapshot of before the grant",
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, cutOff(1, 4, 5), vmRestore(3, 50*ms, afterGrant(20*ms))),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	}, Cures: []Change{
		{"a snapshot of just now", instead("vm-restore", &nemesis.VMRestore{Node: 3, Age: 1 * ms})},
		{"a machine that is away for longer than the TTL", endAfter("vm-restore", 1100*ms)},
	}},
	{VariantOf: "vm-restore", Scenario: Scenario{
		Name:    "vm-restore-clock",
		Summary: "the same with the clock of the snapshot: keys that are set from then on live longer, and the holder's is gone all the same",
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, cutOff(1, 4, 5), nemesis.Fault{
			Action: &nemesis.VMRestore{Node: 3, Age: 50 * ms, Clock: nemesis.ClockRestored},
			Start:  afterGrant(20 * ms),
			End:    nemesis.After(0),
		}),
		Bounds: quickBounds,
		Expect: expect(violated, violated, violated, na),
	}, Cures: []Change{
		{"a snapshot of just now", instead("vm-restore", &nemesis.VMRestore{Node: 3, Age: 1 * ms, Clock: nemesis.ClockRestored})},
	}},
	{VariantOf: "vm-restore", Scenario: Scenario{
		Name:    "vm-restore-fenced",
		Summary: "the same with a fence of the resource's own, which it checks on reads and writes",
		Lock:    quickLock,
		Clients: withFence(rivals),
		Setting: fenced(five(5*time.Second, cutOff(1, 4, 5), vmRestore(3, 50*ms, afterGrant(20*ms)))),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, holds, na),
	}, Cures: []Change{
		{"a snapshot of just now", instead("vm-restore", &nemesis.VMRestore{Node: 3, Age: 1 * ms})},
	}, Damages: []Damage{
		{checker.Effect, "a fence that is checked nowhere", guardBy("plain")},
	}},
	{VariantOf: "vm-restore", Scenario: Scenario{
		Name:    "vm-restore-fence-lost",
		Summary: "as fence-after-loss: the node that two quorums have in common is restored between them, without its counter",
		Lock:    drawing(quickLock, "quorum"),
		Clients: queue[:2],
		Setting: fenced(five(5*time.Second, cutOff(1, 4, 5), cutOff(2, 1, 2), vmRestore(3, time.Second, nemesis.When(1, env.StepBeforeRelease, 0)))),
		Bounds:  quickBounds,
		Expect:  ordered(expect(holds, holds, holds, na), violated),
	}, Cures: []Change{
		{"a snapshot of just now", instead("vm-restore", &nemesis.VMRestore{Node: 3, Age: 1 * ms})},
	}},
	{Scenario: Scenario{
		Name:    "split-brain",
		Summary: "one node has two masters after a failover, and holder and rival each reach another of them",
		Lock:    quickLock,
		Clients: rivals,
		Setting: replicated(five(8*time.Second, cutOff(1, 4, 5), splitBrain(nemesis.After(1200*ms)))),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	}, Cures: []Change{
		{"an old master that is demoted at once", endAfter("split-brain", 0)},
		{"two clients of the same master", instead("split-brain", &nemesis.SplitBrain{Node: 3})},
	}},
	{VariantOf: "split-brain", Scenario: Scenario{
		Name:    "split-brain-end",
		Summary: "the old master is demoted when the holder has its key there alone: it is lost at the end of the fault",
		Lock:    quickLock,
		Clients: rivals,
		Setting: replicated(five(8*time.Second, cutOff(1, 4, 5), splitBrain(atGrant(20*ms)))),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	}, Cures: []Change{
		{"an old master that is demoted before the grant", endAfter("split-brain", 0)},
	}},
	{VariantOf: "split-brain", Scenario: Scenario{
		Name:    "split-brain-fenced",
		Summary: "the same with a fence of the resource's own, which it checks on reads and writes",
		Lock:    quickLock,
		Clients: withFence(rivals),
		Setting: replicated(fenced(five(8*time.Second, cutOff(1, 4, 5), splitBrain(nemesis.After(1200*ms))))),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, holds, na),
	}, Cures: []Change{
		{"an old master that is demoted at once", endAfter("split-brain", 0)},
	}, Damages: []Damage{
		{checker.Effect, "a fence that is checked nowhere", guardBy("plain")},
	}},
	{VariantOf: "split-brain", Scenario: Scenario{
		Name:    "split-brain-fence-twice",
		Summary: "fences are drawn from the nodes: each master has a counter of its own, and two holders get the same number",
		Lock:    drawing(quickLock, "quorum"),
		Clients: rivals,
		Setting: replicated(fenced(five(8*time.Second, cutOff(1, 4, 5), cutOff(2, 1, 2), splitBrain(nemesis.After(1200*ms))))),
		Bounds:  quickBounds,
		Expect:  ordered(expect(violated, violated, violated, na), violated),
	}, Cures: []Change{
		{"an old master that is demoted at once", endAfter("split-brain", 0)},
	}},
}

// slowly are a holder who works for most of the validity of a TTL of three seconds, and
// another who wants the lock after half of it.
var slowly = []Client{
	once(exactly(0), span(2600*ms, 2800*ms)),
	once(span(1400*ms, 1500*ms), span(20*ms, 50*ms)),
}

// stuckSync takes the power from node 3, whose disk has been stuck for one and a half
// seconds.
func stuckSync(at nemesis.Trigger) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.PowerLoss{Node: 3, StuckSync: 1500 * ms}, Start: at, End: nemesis.After(0)}
}

// vmRestore restores the machine of a node, which is back at once.
func vmRestore(node int, age time.Duration, at nemesis.Trigger) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.VMRestore{Node: node, Age: age}, Start: at, End: nemesis.After(0)}
}

// splitBrain gives node 3 two masters from the beginning, of which client 1 reaches the old
// one.
func splitBrain(end *nemesis.Trigger) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.SplitBrain{Node: 3, Clients: []int{1}}, Start: nemesis.At(0), End: end}
}

// replicated is a setting whose nodes have replicas that lag by 5 ms.
func replicated(s nemesis.Setting) nemesis.Setting {
	s.Replication = &nemesis.Distribution{Range: exactly(5 * ms)}
	return s
}

// atGrant is [afterGrant] as an end.
func atGrant(d time.Duration) *nemesis.Trigger {
	m := afterGrant(d)
	return &m
}
