package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// remedies is what the lock can do itself about what breaks it in the debate, and
// how far that goes.
var remedies = []Scenario{
	{
		Name:    "quarantine",
		Summary: "as crash-restart, with a lock that does not let a node vote which has restarted less than a TTL ago",
		Lock:    quarantined(quickLock),
		Clients: []Client{
			once(exactly(0), span(850*ms, 920*ms)), // granted when the nodes have been watched for a second
			once(span(1200*ms, 1300*ms), span(20*ms, 50*ms)),
		},
		Setting: five(8*time.Second, bareQuorum, crashOfNode3(0)),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	},
	{
		Name:    "client-suspend",
		Summary: "the holder's machine sleeps past the TTL; its lock reads the monotonic clock, which sleeps as well",
		Lock:    quickLock,
		Clients: sleepers,
		Setting: five(6*time.Second, suspensionOfClient1),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	},
	{
		Name:    "client-suspend-counted",
		Summary: "the same with a lock that reads the clock which counts suspension",
		Lock:    reading(quickLock, env.Boottime),
		Clients: sleepers,
		Setting: five(6*time.Second, suspensionOfClient1),
		Bounds:  quickBounds,
		Expect:  expect(holds, violated, violated, na),
	},
	{
		Name:    "watchdog",
		Summary: "the work takes longer than the TTL, and a watchdog extends the lock",
		Lock:    watched(quickLock),
		Clients: []Client{
			once(exactly(0), span(2500*ms, 3500*ms)),
			once(span(100*ms, 200*ms), span(20*ms, 50*ms)),
		},
		Setting: five(8 * time.Second),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	},
	{
		Name:    "watchdog-cut-off",
		Summary: "the holder is cut off from a majority: its watchdog fails, and it is told before another can be granted the lock",
		Lock:    watched(quickLock),
		Clients: []Client{
			holding(1, exactly(0), exactly(5*time.Second), exactly(0)),
			holding(1, span(100*ms, 200*ms), span(20*ms, 50*ms), exactly(0)),
		},
		Setting: five(10*time.Second, nemesis.Fault{
			Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: []int{1, 2, 3}}},
			Start:  nemesis.When(1, env.StepGranted, 700*ms),
			End:    nemesis.After(3 * time.Second),
		}),
		Bounds: quickBounds,
		Expect: expect(holds, holds, na, na),
	},
	{
		Name:    "fence-from-redlock",
		Summary: "as fenced-write, with fences that the lock draws from the nodes; they keep their counters",
		Claims:  Claims{Kleppmann: "needs consensus", Antirez: "not needed"},
		Lock:    drawing(quickLock),
		Clients: rivals,
		Setting: fenced(five(5*time.Second, pauseOfClient1(2*time.Second))),
		Bounds:  quickBounds,
		Expect:  ordered(expect(holds, violated, holds, na), holds),
	},
	{
		Name:    "fence-after-loss",
		Summary: "the one node that two quorums have in common loses its counter between them",
		Claims:  Claims{Kleppmann: "needs consensus"},
		Lock:    drawing(quickLock),
		Clients: []Client{
			once(exactly(0), span(20*ms, 50*ms)),
			once(span(200*ms, 250*ms), span(20*ms, 50*ms)),
		},
		Setting: fenced(five(5*time.Second, bareQuorum,
			nemesis.Fault{
				Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{2}, Nodes: []int{1, 2}}},
				Start:  nemesis.At(0),
			},
			nemesis.Fault{
				Action: &nemesis.Crash{Node: 3},
				Start:  nemesis.When(1, env.StepReleased, 20*ms),
				End:    nemesis.After(0),
			})),
		Bounds: quickBounds,
		Expect: ordered(expect(holds, holds, holds, na), violated),
	},
}

func quarantined(l Lock) Lock {
	l.Quarantine = l.TTL
	return l
}

func reading(l Lock, clock env.Clock) Lock {
	l.Clock = clock.String()
	return l
}

func watched(l Lock) Lock {
	l.Watchdog.Every = l.TTL / 3
	return l
}

func drawing(l Lock) Lock {
	l.Fence = "quorum"
	return l
}

// ordered expects something of the order of fences.
func ordered(e Expectations, fences checker.Verdict) Expectations {
	e[checker.Fence] = fences
	return e
}

// sleepers are a holder who goes on working when its machine wakes, and another
// client that wants the lock meanwhile.
var sleepers = []Client{
	once(exactly(0), span(300*ms, 500*ms)),
	once(span(1200*ms, 1300*ms), span(1500*ms, 1600*ms)),
}

// suspensionOfClient1 comes when client 1 has read, and lasts until after the
// TTL.
var suspensionOfClient1 = nemesis.Fault{
	Action: &nemesis.Suspend{Client: 1},
	Start:  nemesis.When(1, env.StepAfterRead, 20*ms),
	End:    nemesis.After(1500 * ms),
}
