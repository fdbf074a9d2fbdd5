package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
)

// fences is what a resource that checks who comes makes of all that.
var fences = []Scenario{
	{
		Name:    "fenced-write",
		Summary: "as pause-then-write, with a fence that the resource checks on reads and writes",
		Claims:  Claims{Kleppmann: "safe", Antirez: "if you have a store"},
		Lock:    quickLock,
		Clients: []Client{fencing(rivals[0]), fencing(rivals[1])},
		Setting: fenced(five(5*time.Second, pauseOfClient1(2*time.Second))),
		Bounds:  quickBounds,
		Expect:  expect(holds, violated, holds, na),
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

func fenced(s nemesis.Setting) nemesis.Setting {
	s.Guard = guard.Fenced
	return s
}

func fencing(c Client) Client {
	c.Fence = true
	return c
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
