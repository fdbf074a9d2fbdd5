package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
)

// clones is what becomes of a lock whose clients are clones of one machine: their tokens
// are the same.
var clones = []Row{
	{Scenario: Scenario{
		Name:    "clone",
		Summary: "two clients are clones, and draw the same token: who is refused deletes the keys of who holds the lock",
		Lock:    quickLock,
		Clients: twins,
		Setting: five(5*time.Second, cloned),
		Bounds:  quickBounds,
		Expect:  but(expect(violated, violated, violated, na), checker.Contract, violated),
	}},
	{VariantOf: "clone", Scenario: Scenario{
		Name:    "clone-quarantine",
		Summary: "the same with a quarantine, which knows restarts only",
		Lock:    quarantined(quickLock),
		Clients: twins,
		Setting: five(8*time.Second, cloned),
		Bounds:  quickBounds,
		Expect:  but(expect(violated, violated, violated, na), checker.Contract, violated),
	}},
	{VariantOf: "clone", Scenario: Scenario{
		Name:    "clone-fenced",
		Summary: "the same with fences, which the nodes count: those of the two differ",
		Lock:    drawing(quickLock, "quorum"),
		Clients: twins,
		Setting: fenced(five(5*time.Second, cloned)),
		Bounds:  quickBounds,
		Expect:  but(ordered(expect(violated, violated, holds, na), holds), checker.Contract, violated),
	}},
}

// twins are a holder, and another who draws nothing before its token.
var twins = []Client{
	once(exactly(0), exactly(850*ms)),
	once(exactly(100*ms), exactly(30*ms)),
}

// cloned makes both what the first is, before anybody draws.
var cloned = nemesis.Fault{Action: &nemesis.Clone{Clients: []int{1, 2}}, Start: nemesis.At(0)}
