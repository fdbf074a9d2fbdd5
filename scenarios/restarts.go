package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
)

// restarts is what nodes do that forget, and that come back.
var restarts = []Row{
	{Scenario: Scenario{
		Name:    "crash-restart",
		Summary: "one node of the holder's quorum crashes and is back at once, without its keys",
		Claims:  Claims{Kleppmann: "unsafe", Antirez: "unsafe"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, cutOff(1, 4, 5), crash(3, afterGrant(20*ms), 0)),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	}, Cures: []Change{
		{"a node that keeps its keys", persist(nemesis.Always)},
		{"a restart after the TTL", endAfter("crash", 1100*ms)},
		{"a holder whose quorum is not bare", without("partition")},
	}},
	{Scenario: Scenario{
		Name:    "short-restart",
		Summary: "the node stays away, but comes back while the holder's validity lasts",
		Claims:  Claims{Antirez: "unsafe: too short"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, cutOff(1, 4, 5), crash(3, afterGrant(20*ms), 300*ms)),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	}},
	{Scenario: Scenario{
		Name:    "delayed-restart",
		Summary: "the node stays away for longer than the TTL",
		Claims:  Claims{Kleppmann: "safe, good clocks", Antirez: "safe"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, cutOff(1, 4, 5), crash(3, afterGrant(20*ms), 1100*ms)),
		Bounds:  tellingBounds,
		Expect:  expect(holds, holds, holds, na),
	}, Damages: []Damage{
		{checker.Lease, "no delay", endAfter("crash", 0)},
	}},
	{VariantOf: "delayed-restart", Scenario: Scenario{
		Name:    "delayed-restart-jump",
		Summary: "the node counts the delay on its own wall clock, which jumps while it is away",
		Claims:  Claims{Kleppmann: "unsafe", Antirez: "not to be allowed"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, cutOff(1, 4, 5),
			nemesis.Fault{Action: &nemesis.Crash{Node: 3, RestartDelay: 1100 * ms}, Start: afterGrant(20 * ms)},
			clockJump(3, 2*time.Second, afterGrant(100*ms))),
		Bounds: quickBounds,
		Expect: expect(violated, violated, violated, na),
	}, Cures: []Change{
		{"no jump", without("clock-jump")},
	}},
	{Scenario: Scenario{
		Name:    "majority-crash",
		Summary: "three nodes crash and stay away for longer than the TTL: nobody gets the lock meanwhile",
		Claims:  Claims{Antirez: "blocked for a TTL"},
		Lock:    quickLock,
		Clients: []Client{
			often(10, span(5*ms, 20*ms), span(20*ms, 60*ms)),
			often(10, span(5*ms, 20*ms), span(20*ms, 60*ms)),
		},
		Setting: five(20*time.Second, majorityCrash(1500*ms)...),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	}, Damages: []Damage{
		{checker.Lease, "no delay", endAfter("crash", 0)},
	}},
}

// majorityCrash takes nodes 1, 2 and 3 down while clients are at work.
func majorityCrash(away time.Duration) []nemesis.Fault {
	var plan []nemesis.Fault
	for n := 1; n <= 3; n++ {
		plan = append(plan, crash(n, nemesis.At(300*ms), away))
	}
	return plan
}
