package scenarios

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// clocks is what clocks do, those of nodes and of clients.
var clocks = slices.Concat(nodeClocks, drifts, clientClocks)

// clockSeries is the series about clocks.
var clockSeries = []Series{driftSeries, slewSeries}

// nodeClocks is what the wall clocks of nodes do, by which keys expire.
var nodeClocks = []Scenario{
	{
		Name:    "node-clock-jump",
		Summary: "the clock of one node of the holder's quorum jumps forward by more than the TTL",
		Claims:  Claims{Kleppmann: "unsafe", Antirez: "not to be allowed"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, cutOff(1, 4, 5), clockJump(3, 2*time.Second, afterGrant(20*ms))),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	},
	{
		Name:    "node-clock-back",
		Summary: "the clock of one node of the holder's quorum steps back for good",
		Claims:  Claims{Kleppmann: "slower expiry", Antirez: "slower expiry"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, cutOff(1, 4, 5), clockJump(3, -2*time.Second, afterGrant(20*ms))),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	},
	{
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
	},
	{
		Name:    "node-clock-back-undone",
		Summary: "the clock of a node is behind when it is given the key, and is then put right by a step",
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, cutOff(1, 4, 5), nemesis.Fault{
			Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 3}, By: -2 * time.Second, Healing: byStep},
			Start:  nemesis.At(0),
			End:    new(afterGrant(20 * ms)),
		}),
		Bounds: quickBounds,
		Expect: expect(violated, violated, violated, na),
	},
	{
		Name:    "leap-second-stepped",
		Summary: "the nodes' clocks leave out a second at once: more than is left of a TTL of a second",
		Lock:    promptLock,
		Clients: keepers,
		Setting: five(5*time.Second, everyNode(clockJump, time.Second)...),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, na, na),
	},
	{
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
	},
	{
		Name:    "leap-second-inserted",
		Summary: "the nodes' clocks show a second twice: they step back, and keys live longer",
		Lock:    promptLock,
		Clients: keepers,
		Setting: five(5*time.Second, everyNode(clockJump, -time.Second)...),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, na, na),
	},
	{
		Name:    "leap-second-smeared",
		Summary: "the nodes' clocks gain the second over a day",
		Lock:    promptLock,
		Clients: keepers,
		Setting: five(5*time.Second, everyNode(clockSlew, time.Second)...),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, na, na),
	},
	{
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
	},
	{
		Name:    "frozen-clock-majority",
		Summary: "the clocks of three nodes stand still for ever, and the holder dies: nobody gets the lock any more",
		Lock:    quickLock,
		Clients: heirs,
		Setting: five(6*time.Second, clockFreeze(1), clockFreeze(2), clockFreeze(3),
			kill(1, afterGrant(20*ms))),
		Bounds: quickBounds,
		Expect: live(expect(holds, holds, na, na), violated), // nobody lives to write
	},
	{
		Name:    "frozen-clock-thaws",
		Summary: "the clock of one node stood still when it was given the key, and catches up at once",
		Lock:    quickLock,
		Clients: later(600*ms, rivals),
		Setting: five(5*time.Second, cutOff(1, 4, 5), nemesis.Fault{
			Action: &nemesis.ClockFreeze{Machine: nemesis.Machine{Node: 3}, Healing: byStep},
			Start:  nemesis.At(0),
			End:    new(afterGrant(20 * ms)),
		}),
		Bounds: quickBounds,
		Expect: expect(violated, violated, violated, na),
	},
}

var byStep = nemesis.Healing{Heal: nemesis.HealStep}

// clockJump steps the wall clock of a node.
func clockJump(node int, by time.Duration, at nemesis.Moment) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: node}, By: by}, Start: at}
}

// clockSlew lets the clocks of a node gain a time as a leap second is smeared
// over a day.
func clockSlew(node int, by time.Duration, at nemesis.Moment) nemesis.Fault {
	const smear = 12 // ppm
	return nemesis.Fault{Action: &nemesis.ClockSlew{Machine: nemesis.Machine{Node: node}, By: by, PPM: smear}, Start: at}
}

// clockFreeze stops the wall clock of a node for ever.
func clockFreeze(node int) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.ClockFreeze{Machine: nemesis.Machine{Node: node}}, Start: nemesis.At(0)}
}

// everyNode does the same to the clocks of all nodes when the lock is held.
func everyNode(change func(node int, by time.Duration, at nemesis.Moment) nemesis.Fault, by time.Duration) []nemesis.Fault {
	var plan []nemesis.Fault
	for n := 1; n <= 5; n++ {
		plan = append(plan, change(n, by, afterGrant(20*ms)))
	}
	return plan
}
