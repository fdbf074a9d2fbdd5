package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// pauses is what happens when a holder stands still, or its write is late.
var pauses = []Scenario{
	{
		Name:    "pause-then-write",
		Summary: "the holder stands still past its validity and then writes what it had worked out",
		Claims:  Claims{Kleppmann: "unsafe", Antirez: "so are all leases"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, pauseOfClient1(2*time.Second)),
		Bounds:  quickBounds,
		Expect:  expect(holds, violated, violated, na),
	},
}

// pauseOfClient1 comes when client 1 has read and is about to work.
func pauseOfClient1(length time.Duration) nemesis.Fault {
	return nemesis.Fault{
		Action: &nemesis.Pause{Client: 1},
		Start:  nemesis.When(1, env.StepAfterRead, 0),
		End:    nemesis.After(length),
	}
}

// pauseSeries is the series about pauses.
var pauseSeries []Series
