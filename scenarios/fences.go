package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
)

// fences is what a resource that checks who comes makes of all that.
var fences = []Row{
	{Scenario: Scenario{
		Name:    "fenced-write",
		Summary: "as pause-then-write, with a fence that the resource checks on reads and writes",
		Claims:  Claims{Kleppmann: "safe", Antirez: "if you have a store"},
		Lock:    quickLock,
		Clients: withFence(rivals),
		Setting: fenced(five(5*time.Second, pause(1, hasRead, 2*time.Second))),
		Bounds:  quickBounds,
		Expect:  expect(holds, violated, holds, na),
	}, Damages: []Damage{
		{checker.Effect, "a fence that is checked nowhere", guardBy(guard.Plain)},
	}},
	{VariantOf: "fenced-write", Scenario: Scenario{
		Name:    "fenced-write-checked",
		Summary: "as check-then-write-before-write, with the same fence",
		Claims:  Claims{Kleppmann: "safe", Antirez: "if you have a store"},
		Lock:    quickLock,
		Clients: withFence(straddling("checked")),
		Setting: fenced(five(6*time.Second, stall(nemesis.When(1, env.StepBeforeWrite, 0)))),
		Bounds:  quickBounds,
		Expect:  expect(holds, violated, holds, na),
	}, Damages: []Damage{
		{checker.Effect, "a fence that is checked nowhere", guardBy(guard.Plain)},
	}},
	{VariantOf: "fenced-write", Scenario: Scenario{
		Name:    "fenced-write-delayed",
		Summary: "as delayed-write, with the same fence",
		Claims:  Claims{Kleppmann: "safe", Antirez: "if you have a store"},
		Lock:    quickLock,
		Clients: withFence(doing("posted", brief)),
		Setting: fenced(five(5*time.Second, lateWriteOfClient1)),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	}, Damages: []Damage{
		{checker.Effect, "a fence that is checked nowhere", guardBy(guard.Plain)},
	}},
	{Scenario: Scenario{
		Name:    "fenced-writes-only",
		Summary: "the resource checks the fence on writes only: a write is late, and comes before any with a higher fence",
		Claims:  Claims{Kleppmann: "safe"},
		Lock:    quickLock,
		Clients: withFence(straddling("section")),
		Setting: guarded(guard.FencedWrites, five(6*time.Second, stall(nemesis.When(1, env.StepAfterRead, 10*ms)))),
		Bounds:  quickBounds,
		Expect:  expect(holds, violated, violated, na),
	}, Cures: []Change{
		{"a holder who is done before the other begins", endAfter("pause", 300*ms)},
	}},
	{Scenario: Scenario{
		Name:    "token-check-and-set",
		Summary: "the resource accepts a write only if its value was last read under the writer's token",
		Claims:  Claims{Antirez: "sufficient"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: guarded(guard.Token, five(5*time.Second, pause(1, hasRead, 2*time.Second))),
		Bounds:  quickBounds,
		Expect:  expect(holds, violated, holds, na),
	}, Damages: []Damage{
		{checker.Effect, "a token that is checked nowhere", guardBy(guard.Plain)},
	}},
	{VariantOf: "token-check-and-set", Scenario: Scenario{
		Name:    "token-check-and-set-stale",
		Summary: "the holder stands still before its read, until the other is done: its whole section comes late, and counts",
		Claims:  Claims{Antirez: "sufficient"},
		Lock:    quickLock,
		Clients: heirs,
		Setting: guarded(guard.Token, five(5*time.Second, pause(1, nemesis.When(1, env.StepBeforeRead, 0), 2*time.Second))),
		Bounds:  quickBounds,
		Expect:  expect(holds, violated, holds, na),
	}},
	{VariantOf: "token-check-and-set", Scenario: Scenario{
		Name:    "token-check-and-set-late-read",
		Summary: "the holder stands still before its read, while the other works: the stale section counts, and the rightful holder is turned away",
		Claims:  Claims{Antirez: "sufficient"},
		Lock:    quickLock,
		Clients: straddling("section"),
		Setting: guarded(guard.Token, five(6*time.Second, stall(nemesis.When(1, env.StepBeforeRead, 0)))),
		Bounds:  quickBounds,
		Expect:  expect(holds, violated, holds, na),
	}, Damages: []Damage{
		{checker.Effect, "a token that is checked nowhere", guardBy(guard.Plain)},
	}},
	{Scenario: Scenario{
		Name:    "fence-from-redlock",
		Summary: "as fenced-write, with fences that the lock draws from the nodes; they keep their counters",
		Claims:  Claims{Kleppmann: "needs consensus", Antirez: "not needed"},
		Lock:    drawing(quickLock, "quorum"),
		Clients: rivals,
		Setting: fenced(five(5*time.Second, pause(1, hasRead, 2*time.Second))),
		Bounds:  quickBounds,
		Expect:  ordered(expect(holds, violated, holds, na), holds),
	}, Damages: []Damage{
		{checker.Effect, "a fence that is checked nowhere", guardBy(guard.Plain)},
		{checker.Effect, "no fence", fenceFrom("")},
	}},
	{Scenario: Scenario{
		Name:    "fence-increment",
		Summary: "fences are the highest of a quorum's counters, each of which is incremented; nothing is lost, but quorums differ",
		Claims:  Claims{Kleppmann: "needs consensus"},
		Lock:    drawing(quickLock, "increment"),
		Clients: queue,
		Setting: fenced(five(5*time.Second, cutOff(1, 4, 5), cutOff(2, 2, 3), cutOff(3, 1, 5))),
		Bounds:  quickBounds,
		Expect:  ordered(expect(holds, holds, holds, na), violated),
	}, Cures: []Change{
		{"the counters of a quorum are raised to one number", fenceFrom("quorum")},
		{"quorums that are one", replan()},
	}},
	{Scenario: Scenario{
		Name:    "fence-one-node",
		Summary: "as fence-from-redlock, with the counter of one node",
		Claims:  Claims{Kleppmann: "needs consensus", Antirez: "not needed"},
		Lock:    drawing(quickLock, "one-node"),
		Clients: rivals,
		Setting: fenced(five(5*time.Second, pause(1, hasRead, 2*time.Second))),
		Bounds:  quickBounds,
		Expect:  ordered(expect(holds, violated, holds, na), holds),
	}, Damages: []Damage{
		{checker.Effect, "a fence that is checked nowhere", guardBy(guard.Plain)},
	}},
	{VariantOf: "fence-one-node", Scenario: Scenario{
		Name:    "fence-one-node-down",
		Summary: "that node is away for a while, and keeps its counter: nobody is granted the lock without it",
		Lock:    drawing(quickLock, "one-node"),
		Clients: visitors,
		Setting: keeping(nemesis.Always, fenced(five(20*time.Second, crash(1, nemesis.At(0), 3*time.Second)))),
		Bounds:  tries(quickBounds, 3),
		Expect:  ordered(expect(holds, holds, holds, violated), holds),
	}, Cures: []Change{
		{"the counters of a quorum", fenceFrom("quorum")},
		{"the counters of all nodes", fenceFrom("increment")},
	}},
	{VariantOf: "fence-one-node", Scenario: Scenario{
		Name:    "fence-one-node-lost",
		Summary: "that node loses its counter between two grants",
		Claims:  Claims{Kleppmann: "needs consensus"},
		Lock:    drawing(quickLock, "one-node"),
		Clients: queue[:2],
		Setting: fenced(five(5*time.Second, crash(1, nemesis.When(1, env.StepBeforeRelease, 0), 0))),
		Bounds:  quickBounds,
		Expect:  ordered(expect(holds, holds, holds, na), violated),
	}, Cures: []Change{
		{"a node that keeps its counter", persist(nemesis.Always)},
		{"the counters of a quorum", fenceFrom("quorum")},
	}},
	{Scenario: Scenario{
		Name:    "fence-after-loss",
		Summary: "the one node that two quorums have in common loses its counter between them",
		Claims:  Claims{Kleppmann: "needs consensus"},
		Lock:    drawing(quickLock, "quorum"),
		Clients: queue[:2],
		Setting: fenced(five(5*time.Second, cutOff(1, 4, 5), cutOff(2, 1, 2), crash(3, nemesis.When(1, env.StepBeforeRelease, 0), 0))),
		Bounds:  quickBounds,
		Expect:  ordered(expect(holds, holds, holds, na), violated),
	}, Cures: []Change{
		{"a node that keeps its counter", persist(nemesis.Always)},
	}},
}

func guarded(mode guard.Mode, s nemesis.Setting) nemesis.Setting {
	s.Guard = mode
	return s
}

func fenced(s nemesis.Setting) nemesis.Setting { return guarded(guard.Fenced, s) }

// withFence makes clients show a fence that they draw themselves.
func withFence(clients []Client) []Client {
	same := make([]Client, len(clients))
	for i, c := range clients {
		c.Fence = true
		same[i] = c
	}
	return same
}

// drawing is a lock that draws a fence from somewhere with every grant.
func drawing(l Lock, from string) Lock {
	l.Fence = from
	return l
}

// queue are a holder and two others who wait for it.
var queue = []Client{
	once(exactly(0), span(100*ms, 150*ms)),
	once(span(20*ms, 60*ms), span(40*ms, 80*ms)),
	once(span(20*ms, 60*ms), span(40*ms, 80*ms)),
}

// ordered expects something of the order of fences.
func ordered(e Expectations, v checker.Verdict) Expectations { return but(e, checker.Fence, v) }
