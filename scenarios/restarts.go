package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// restarts is what nodes do that forget, and that come back.
var restarts = []Scenario{
	{
		Name:    "crash-restart",
		Summary: "one node of the holder's quorum crashes and is back at once, without its keys",
		Claims:  Claims{Kleppmann: "unsafe", Antirez: "unsafe"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, bareQuorum, crashOfNode3(0)),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	},
	{
		Name:    "short-restart",
		Summary: "the node stays away, but comes back while the holder's validity lasts",
		Claims:  Claims{Antirez: "unsafe: too short"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, bareQuorum, crashOfNode3(300*ms)),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	},
	{
		Name:    "delayed-restart",
		Summary: "the node stays away for longer than the TTL",
		Claims:  Claims{Kleppmann: "safe, good clocks", Antirez: "safe"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, bareQuorum, crashOfNode3(1100*ms)),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	},
}

// crashOfNode3 comes when client 1 has just been granted the lock.
func crashOfNode3(away time.Duration) nemesis.Fault {
	return nemesis.Fault{
		Action: &nemesis.Crash{Node: 3},
		Start:  nemesis.When(1, env.StepGranted, 20*ms),
		End:    nemesis.After(away),
	}
}

// restartSeries is the series about restarts.
var restartSeries []Series
