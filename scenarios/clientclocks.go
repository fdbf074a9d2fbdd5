package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// clientClocks is what the holder's clocks do, by which it counts its validity.
var clientClocks = []Row{
	{Scenario: Scenario{
		Name:    "client-wall-step",
		Summary: "the holder's wall clock steps back; its lock counts the validity on it",
		Claims:  Claims{Kleppmann: "unsafe", Antirez: "use monotonic"},
		Lock:    reading(promptLock, env.Wall),
		Clients: keepers,
		Setting: five(5*time.Second, wallStep(-1500*ms, afterGrant(20*ms))),
		Bounds:  tellingBounds,
		Expect:  silent(expect(violated, violated, na, na)),
	}, Cures: []Change{
		{"the monotonic clock", readClock(env.Monotonic)},
	}},
	{VariantOf: "client-wall-step", Scenario: Scenario{
		Name:    "client-wall-step-acquiring",
		Summary: "the same when the holder has its quorum and has not yet looked at the clock",
		Claims:  Claims{Kleppmann: "unsafe", Antirez: "use monotonic"},
		Lock:    reading(promptLock, env.Wall),
		Clients: keepers,
		Setting: five(5*time.Second, wallStep(-1500*ms, atQuorum)),
		Bounds:  tellingBounds,
		Expect:  silent(expect(violated, violated, na, na)),
	}, Cures: []Change{
		{"the monotonic clock", readClock(env.Monotonic)},
	}},
	{VariantOf: "client-wall-step", Scenario: Scenario{
		Name:    "client-wall-step-forward",
		Summary: "the wall clock steps forward while the lock acquires, and again while it holds: it takes its validity to be over",
		Claims:  Claims{Antirez: "use monotonic"},
		Lock:    reading(promptLock, env.Wall),
		Clients: keepers,
		Setting: five(5*time.Second, wallStep(1500*ms, atQuorum), wallStep(1500*ms, afterGrant(20*ms))),
		Bounds:  tellingBounds,
		Expect:  expect(holds, holds, na, na),
	}, Damages: []Damage{
		{checker.Lease, "a step back", replan(wallStep(-1500*ms, afterGrant(20*ms)))},
	}},
	{VariantOf: "client-wall-step", Scenario: Scenario{
		Name:    "client-wall-step-monotonic",
		Summary: "the wall clock steps back as in both, but the lock reads the monotonic clock",
		Claims:  Claims{Kleppmann: "safe", Antirez: "safe"},
		Lock:    promptLock,
		Clients: keepers,
		Setting: five(5*time.Second, wallStep(-1500*ms, atQuorum), wallStep(-1500*ms, afterGrant(20*ms))),
		Bounds:  tellingBounds,
		Expect:  expect(holds, holds, na, na),
	}, Damages: []Damage{
		{checker.Lease, "the wall clock", readClock(env.Wall)},
	}},
	{Scenario: Scenario{
		Name:    "client-suspend",
		Summary: "the holder's machine sleeps past the TTL; its lock reads the monotonic clock, which sleeps as well",
		Lock:    quickLock,
		Clients: sleepers,
		Setting: five(6*time.Second, asleep(&nemesis.Suspend{Client: 1})),
		Bounds:  tellingBounds,
		Expect:  silent(expect(violated, violated, violated, na)),
	}, Cures: []Change{
		{"a sleep that ends within the validity", endAfter("suspend", 500*ms)},
	}},
	{VariantOf: "client-suspend", Scenario: Scenario{
		Name:    "client-suspend-counted",
		Summary: "the same with a lock that reads the clock which counts suspension",
		Lock:    reading(quickLock, env.Boottime),
		Clients: sleepers,
		Setting: five(6*time.Second, asleep(&nemesis.Suspend{Client: 1})),
		Bounds:  tellingBounds,
		Expect:  expect(holds, violated, violated, na),
	}, Damages: []Damage{
		{checker.Lease, "the monotonic clock", readClock(env.Monotonic)},
	}},
	{VariantOf: "client-suspend", Scenario: Scenario{
		Name:    "client-suspend-snapshot",
		Summary: "the holder's machine is restored from a snapshot: no clock of it has counted the time",
		Lock:    reading(quickLock, env.Boottime),
		Clients: sleepers,
		Setting: five(6*time.Second, asleep(&nemesis.Snapshot{Client: 1})),
		Bounds:  tellingBounds,
		Expect:  silent(expect(violated, violated, violated, na)),
	}, Cures: []Change{
		{"a restoration within the validity", endAfter("snapshot", 500*ms)},
	}},
}

// atQuorum is when client 1 has the votes and has not yet checked the time.
var atQuorum = nemesis.When(1, env.StepQuorum, 0)

// wallStep steps the wall clock of client 1.
func wallStep(by time.Duration, at nemesis.Trigger) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Client: 1}, By: by}, Start: at}
}

// sleepers are a holder who goes on working when its machine wakes, and another
// client that wants the lock meanwhile.
var sleepers = []Client{
	once(exactly(0), span(300*ms, 500*ms)),
	once(span(600*ms, 700*ms), span(1500*ms, 1600*ms)),
}

// asleep stops the machine of client 1 when it has read, until after the TTL.
func asleep(how nemesis.Action) nemesis.Fault {
	return nemesis.Fault{
		Action: how,
		Start:  nemesis.When(1, env.StepAfterRead, 20*ms),
		End:    nemesis.After(1500 * ms),
	}
}

func reading(l Lock, clock env.Clock) Lock {
	l.Clock = clock.String()
	return l
}
