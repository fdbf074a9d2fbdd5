package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
)

// remedies is what the lock can do itself about what breaks it, and how far that
// goes.
var remedies = []Row{
	{Scenario: Scenario{
		Name:    "quarantine",
		Summary: "as crash-restart, with a lock that does not let a node vote which has restarted less than a TTL ago",
		Lock:    quarantined(quickLock),
		Clients: watchers,
		Setting: five(8*time.Second, cutOff(1, 4, 5), crash(3, afterGrant(20*ms), 0)),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	}, Damages: []Damage{
		{checker.Lease, "no quarantine, and clients that need not watch", func(s *Scenario) { s.Lock.Quarantine, s.Clients = 0, rivals }},
	}},
	{VariantOf: "quarantine", Scenario: Scenario{
		Name:    "quarantine-stuck-sync",
		Summary: "as stuck-sync, with a quarantine: whatever the node has lost, it has restarted",
		Lock:    quarantined(lasting(quickLock, 3*time.Second)),
		Clients: []Client{
			once(exactly(0), span(2600*ms, 2800*ms)),         // granted when the nodes have been watched for three seconds
			once(span(1400*ms, 1500*ms), span(20*ms, 50*ms)), // has watched for as long while the first holds it
		},
		Setting: keeping(nemesis.EverySecond, five(20*time.Second, cutOff(1, 4, 5), stuckSync(afterGrant(1200*ms)))),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	}, Damages: []Damage{
		{checker.Lease, "no quarantine, and clients that need not watch", func(s *Scenario) { s.Lock.Quarantine, s.Clients = 0, slowly }},
	}},
	{VariantOf: "quarantine", Scenario: Scenario{
		Name:    "quarantine-vm-restore",
		Summary: "as vm-restore, with a quarantine: the run id is that of before, and nobody notices",
		Lock:    quarantined(quickLock),
		Clients: watchers,
		Setting: five(8*time.Second, cutOff(1, 4, 5), vmRestore(3, 100*ms, afterGrant(20*ms))),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	}, Cures: []Change{
		{"a server that starts again from that snapshot", instead("vm-restore", &nemesis.OldSnapshot{Node: 3, Age: 100 * ms})},
	}},
	{VariantOf: "quarantine", Scenario: Scenario{
		Name:    "quarantine-split-brain",
		Summary: "as split-brain, with a quarantine: each client has watched the run of its own master for long enough",
		Lock:    quarantined(quickLock),
		Clients: watchers,
		Setting: replicated(five(12*time.Second, cutOff(1, 4, 5), splitBrain(nemesis.After(4*time.Second)))),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	}, Cures: []Change{
		{"an old master that is demoted at once", endAfter("split-brain", 0)},
	}},
	{Scenario: Scenario{
		Name:    "watchdog",
		Summary: "the work takes longer than the TTL, and a watchdog extends the lock",
		Lock:    watched(quickLock),
		Clients: []Client{
			once(exactly(0), span(2500*ms, 3500*ms)),
			once(span(100*ms, 200*ms), span(20*ms, 50*ms)),
		},
		Setting: five(8 * time.Second),
		Bounds:  tellingBounds,
		Expect:  expect(holds, holds, holds, na),
	}, Damages: []Damage{
		{checker.Effect, "no watchdog", func(s *Scenario) { s.Lock.Watchdog.Every = 0 }},
		{checker.Effect, "a limit", func(s *Scenario) { s.Lock.Watchdog.Limit = 2 }},
	}},
	{VariantOf: "watchdog", Scenario: Scenario{
		Name:    "watchdog-cut-off",
		Summary: "the holder is cut off from a majority: its watchdog fails, and it is told before another can be granted the lock",
		Lock:    watched(quickLock),
		Clients: []Client{
			holding(1, exactly(0), exactly(5*time.Second), exactly(0)),
			holding(1, span(100*ms, 200*ms), span(20*ms, 50*ms), exactly(0)),
		},
		Setting: five(10*time.Second, nemesis.Fault{
			Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: []int{1, 2, 3}}},
			Start:  afterGrant(700 * ms),
			End:    nemesis.After(3 * time.Second),
		}),
		Bounds: tellingBounds,
		Expect: expect(holds, holds, na, na),
	}, Damages: []Damage{
		{checker.Effect, "a holder who does not listen", func(s *Scenario) { s.Clients = doing("section", s.Clients) }},
	}},
}

// watchers are a holder who is granted the lock when the nodes have been watched for a
// second, and another who has watched them for as long while the first holds it.
var watchers = []Client{
	once(exactly(0), span(850*ms, 920*ms)),
	once(span(600*ms, 700*ms), span(20*ms, 50*ms)),
}

func quarantined(l Lock) Lock {
	l.Quarantine = l.TTL
	return l
}

func watched(l Lock) Lock {
	l.Watchdog.Every = l.TTL / 3
	return l
}
