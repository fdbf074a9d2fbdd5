package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
)

// nodeClocks is what the wall clocks of nodes do, by which keys expire.
var nodeClocks = []Row{
	{Scenario: Scenario{
		Name:    "node-clock-jump",
		Summary: "the clock of one node of the holder's quorum jumps forward by more than the TTL",
		Claims:  Claims{Kleppmann: "unsafe", Antirez: "not to be allowed"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, cutOff(1, 4, 5), clockJump(3, 2*time.Second, afterGrant(20*ms))),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	}, Cures: []Change{
		{"a jump by less than what is left", instead("clock-jump", &nemesis.ClockJump{Machine: node(3), By: 50 * ms})},
	}},
	{Scenario: Scenario{
		Name:    "node-clock-back",
		Summary: "the clock of one node of the holder's quorum steps back for good",
		Claims:  Claims{Kleppmann: "slower expiry", Antirez: "slower expiry"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, cutOff(1, 4, 5), clockJump(3, -2*time.Second, afterGrant(20*ms))),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	}, Damages: []Damage{
		{checker.Lease, "a step forward", instead("clock-jump", &nemesis.ClockJump{Machine: node(3), By: 2 * time.Second})},
	}},
	{VariantOf: "node-clock-back", Scenario: Scenario{
		Name:    "node-clock-back-orphan",
		Summary: "the same when the holder has died: another gets the lock, later by the step",
		Claims:  Claims{Kleppmann: "slower expiry", Antirez: "slower expiry"},
		Lock:    quickLock,
		Clients: heirs,
		Setting: five(8*time.Second,
			nemesis.Fault{Action: &nemesis.Partition{Links: nemesis.Links{Nodes: []int{4, 5}}}, Start: nemesis.At(0)},
			kill(1, afterGrant(20*ms)),
			clockJump(3, -2*time.Second, afterGrant(20*ms))),
		Bounds: quickBounds,
		Expect: expect(holds, holds, holds, na),
	}, Damages: []Damage{
		{checker.DeadlockFreedom, "a clock that stands still", instead("clock-jump", &nemesis.ClockFreeze{Machine: node(3)})},
	}},
	{VariantOf: "node-clock-back", Scenario: Scenario{
		Name:    "node-clock-back-undone",
		Summary: "the clock of a node is behind when it is given the key, and is then put right by a step",
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, cutOff(1, 4, 5), nemesis.Fault{
			Action: &nemesis.ClockJump{Machine: node(3), By: -2 * time.Second, Healing: byStep},
			Start:  nemesis.At(0),
			End:    new(afterGrant(20 * ms)),
		}),
		Bounds: quickBounds,
		Expect: expect(violated, violated, violated, na),
	}, Cures: []Change{
		{"a clock that is put right slowly", instead("clock-jump", &nemesis.ClockJump{Machine: node(3), By: -2 * time.Second, Healing: bySlew})},
	}},
	{Scenario: Scenario{
		Name:    "leap-second-stepped",
		Summary: "the nodes' clocks leave out a second at once: more than is left of a TTL of a second",
		Lock:    promptLock,
		Clients: keepers,
		Setting: five(5*time.Second, everyNode(clockJump, time.Second)...),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, na, na),
	}, Cures: []Change{
		{"a smeared second", replan(everyNode(clockSlew, time.Second)...)},
	}},
	{VariantOf: "leap-second-stepped", Scenario: Scenario{
		Name:    "leap-second-stepped-early",
		Summary: "the same with a TTL of 3 s, of which more than a second is left when the holder is done",
		Lock:    lasting(promptLock, 3*time.Second),
		Clients: []Client{
			holding(1, exactly(0), span(1500*ms, 1900*ms), exactly(0)),
			holding(1, span(10*ms, 20*ms), span(20*ms, 50*ms), exactly(0)),
		},
		Setting: five(8*time.Second, everyNode(clockJump, time.Second)...),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, na, na),
	}, Damages: []Damage{
		{checker.Lease, "a TTL of a second", func(s *Scenario) { s.Lock.TTL = time.Second }},
	}},
	{Scenario: Scenario{
		Name:    "leap-second-inserted",
		Summary: "the nodes' clocks show a second twice: they step back, and keys live longer",
		Lock:    promptLock,
		Clients: keepers,
		Setting: five(5*time.Second, everyNode(clockJump, -time.Second)...),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, na, na),
	}, Damages: []Damage{
		{checker.Lease, "a second left out", replan(everyNode(clockJump, time.Second)...)},
	}},
	{Scenario: Scenario{
		Name:    "leap-second-smeared",
		Summary: "the nodes' clocks gain the second over a day",
		Lock:    promptLock,
		Clients: keepers,
		Setting: five(5*time.Second, everyNode(clockSlew, time.Second)...),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, na, na),
	}, Damages: []Damage{
		{checker.Lease, "a second left out at once", replan(everyNode(clockJump, time.Second)...)},
	}},
	{Scenario: Scenario{
		Name:    "frozen-clock",
		Summary: "the clock of one node stands still, and another node is gone; a holder dies: its key on the first never expires",
		Lock:    quickLock,
		Clients: []Client{
			often(20, span(5*ms, 20*ms), span(200*ms, 600*ms)),
			often(12, span(5*ms, 20*ms), span(200*ms, 600*ms)),
		},
		Setting: five(20*time.Second,
			clockFreeze(3),
			down(5),
			kill(1, nth(5, afterGrant(2*ms)))),
		Bounds: tries(quickBounds, 3),
		Expect: expect(holds, holds, holds, holds),
	}, Damages: []Damage{
		{checker.DeadlockFreedom, "a majority of frozen clocks", also(clockFreeze(1), clockFreeze(2))},
	}},
	{VariantOf: "frozen-clock", Scenario: Scenario{
		Name:    "frozen-clock-majority",
		Summary: "the clocks of three nodes stand still for ever, and the holder dies: nobody gets the lock any more",
		Lock:    quickLock,
		Clients: heirs,
		Setting: five(6*time.Second, clockFreeze(1), clockFreeze(2), clockFreeze(3),
			kill(1, afterGrant(20*ms))),
		Bounds: quickBounds,
		Expect: live(expect(holds, holds, na, na), violated), // nobody lives to write
	}, Cures: []Change{
		{"a holder who lives", without("kill")},
		{"a minority of clocks", replan(clockFreeze(1), clockFreeze(2), kill(1, afterGrant(20*ms)))},
	}},
	{VariantOf: "frozen-clock", Scenario: Scenario{
		Name:    "frozen-clock-thaws",
		Summary: "the clock of one node stood still when it was given the key, and catches up at once",
		Lock:    quickLock,
		Clients: later(600*ms, rivals),
		Setting: five(5*time.Second, cutOff(1, 4, 5), nemesis.Fault{
			Action: &nemesis.ClockFreeze{Machine: node(3), Healing: byStep},
			Start:  nemesis.At(0),
			End:    new(afterGrant(20 * ms)),
		}),
		Bounds: quickBounds,
		Expect: expect(violated, violated, violated, na),
	}, Cures: []Change{
		{"a clock that goes on from where it stood", instead("clock-freeze", &nemesis.ClockFreeze{Machine: node(3)})},
		{"a clock that catches up slowly", instead("clock-freeze", &nemesis.ClockFreeze{Machine: node(3), Healing: bySlew})},
	}},
}

var (
	byStep = nemesis.Healing{Heal: nemesis.HealStep}
	bySlew = nemesis.Healing{Heal: nemesis.HealSlew}
)

func node(n int) nemesis.Machine { return nemesis.Machine{Node: n} }

// clockJump steps the wall clock of a node.
func clockJump(node int, by time.Duration, at nemesis.Trigger) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: node}, By: by}, Start: at}
}

// clockSlew lets the clocks of a node gain a time as a leap second is smeared
// over a day.
func clockSlew(node int, by time.Duration, at nemesis.Trigger) nemesis.Fault {
	const smear = 12 // ppm
	return nemesis.Fault{Action: &nemesis.ClockSlew{Machine: nemesis.Machine{Node: node}, By: by, PPM: smear}, Start: at}
}

// clockFreeze stops the wall clock of a node for ever.
func clockFreeze(node int) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.ClockFreeze{Machine: nemesis.Machine{Node: node}}, Start: nemesis.At(0)}
}

// everyNode does the same to the clocks of all nodes when the lock is held.
func everyNode(change func(node int, by time.Duration, at nemesis.Trigger) nemesis.Fault, by time.Duration) []nemesis.Fault {
	var plan []nemesis.Fault
	for n := 1; n <= 5; n++ {
		plan = append(plan, change(n, by, afterGrant(20*ms)))
	}
	return plan
}
