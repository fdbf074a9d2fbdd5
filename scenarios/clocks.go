package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// clocks is what clocks do, those of nodes and of clients.
var clocks = []Scenario{
	{
		Name:    "node-clock-jump",
		Summary: "the clock of one node of the holder's quorum jumps forward by more than the TTL",
		Claims:  Claims{Kleppmann: "unsafe", Antirez: "not to be allowed"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, bareQuorum, nemesis.Fault{
			Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 3}, By: 2 * time.Second},
			Start:  nemesis.When(1, env.StepGranted, 20*ms),
		}),
		Bounds: quickBounds,
		Expect: expect(violated, violated, violated, na),
	},
	{
		Name:    "clock-drift",
		Summary: "nodes run 0.5 % fast and the holder 0.5 % slow: the allowance of 1 % + 2 ms covers it",
		Claims:  Claims{Kleppmann: "unsafe near the TTL", Antirez: "safe: allowance"},
		Lock:    promptLock,
		Clients: driftClients,
		Setting: five(3*time.Second, drift(5_000)...),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, na, na),
	},
	{
		Name:    "clock-drift-beyond",
		Summary: "nodes run 2 % fast and the holder 2 % slow: more than the allowance covers",
		Claims:  Claims{Kleppmann: "unsafe", Antirez: "not to be allowed"},
		Lock:    promptLock,
		Clients: driftClients,
		Setting: five(3*time.Second, drift(20_000)...),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, na, na),
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
}

// drift makes every node's clock fast and client 1's slow.
func drift(ppm int64) []nemesis.Fault {
	plan := []nemesis.Fault{{Action: &nemesis.ClockRate{Machine: nemesis.Machine{Client: 1}, PPM: -ppm}, Start: nemesis.At(0)}}
	for n := 1; n <= 5; n++ {
		plan = append(plan, nemesis.Fault{Action: &nemesis.ClockRate{Machine: nemesis.Machine{Node: n}, PPM: ppm}, Start: nemesis.At(0)})
	}
	return plan
}

// driftClients are a holder who keeps the lock to the last instant of its
// validity, and another that tries again and again.
var driftClients = []Client{
	holding(1, exactly(0), exactly(2*time.Second), exactly(0)),
	holding(1, span(10*ms, 20*ms), span(20*ms, 50*ms), exactly(0)),
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

func reading(l Lock, clock env.Clock) Lock {
	l.Clock = clock.String()
	return l
}

// clockSeries is the series about clocks.
var clockSeries []Series
