package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
)

// evictions is what a server that is short of memory may take beside all keys with a time
// to live: one of them, or whatever it has, by its maxmemory-policy.
var evictions = []Row{
	{VariantOf: "evicted-key", Scenario: Scenario{
		Name:    "evicted-single-key",
		Summary: "as evicted-key, and the node takes nothing but the key of the lock",
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, cutOff(1, 4, 5), evict(nemesis.Evict{Node: 3, Resource: resource})),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	}, Cures: []Change{
		{"the key of another lock that goes", instead("evict", &nemesis.Evict{Node: 3, Resource: "another"})},
	}},
	{VariantOf: "evicted-key", Scenario: Scenario{
		Name:    "evicted-quarantine",
		Summary: "as evicted-key, with a quarantine: the server has not restarted, so it votes at once",
		Lock:    quarantined(quickLock),
		Clients: []Client{
			once(exactly(0), span(850*ms, 920*ms)),
			once(span(600*ms, 700*ms), span(20*ms, 50*ms)),
		},
		Setting: five(8*time.Second, cutOff(1, 4, 5), evict(nemesis.Evict{Node: 3})),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	}, Cures: []Change{
		{"a node that has no key", instead("evict", &nemesis.Evict{Node: 5})},
		{"a server that restarts", func(s *Scenario) {
			s.Plan = nemesis.Plan{cutOff(1, 4, 5), crash(3, afterGrant(20*ms), 0)}
		}},
	}},
	{VariantOf: "evicted-key", Scenario: Scenario{
		Name:    "evicted-fenced",
		Summary: "as evicted-key, with fences: the policy volatile-* leaves their counters alone",
		Lock:    drawing(quickLock, "quorum"),
		Clients: rivals,
		Setting: fenced(five(5*time.Second, cutOff(1, 4, 5), cutOff(2, 1, 2), evict(nemesis.Evict{Node: 3, Policy: nemesis.Volatile}))),
		Bounds:  quickBounds,
		Expect:  ordered(expect(violated, violated, holds, na), holds),
	}, Cures: []Change{
		{"a node that has no key", instead("evict", &nemesis.Evict{Node: 5})},
	}, Damages: []Damage{
		{checker.Effect, "a policy that takes the counter too", instead("evict", &nemesis.Evict{Node: 3, Policy: nemesis.AllKeys})},
		{checker.Fence, "a policy that takes the counter too", instead("evict", &nemesis.Evict{Node: 3, Policy: nemesis.AllKeys})},
	}},
	{Scenario: Scenario{
		Name:    "evicted-allkeys",
		Summary: "the one node that two quorums have in common evicts by allkeys-*: the key of the lock, and the counter of its fences",
		Lock:    drawing(quickLock, "quorum"),
		Clients: rivals,
		Setting: fenced(five(5*time.Second, cutOff(1, 4, 5), cutOff(2, 1, 2), evict(nemesis.Evict{Node: 3, Policy: nemesis.AllKeys}))),
		Bounds:  quickBounds,
		Expect:  ordered(expect(violated, violated, violated, na), violated),
	}, Cures: []Change{
		{"a node that has neither", instead("evict", &nemesis.Evict{Node: 5, Policy: nemesis.AllKeys})},
	}},
	{VariantOf: "evicted-allkeys", Scenario: Scenario{
		Name:    "evicted-notes",
		Summary: "all nodes evict by allkeys-*, between two holds, the notes of a quarantine: who comes later has to watch them for a TTL",
		Lock:    quarantined(quickLock),
		Clients: []Client{
			once(exactly(0), span(20*ms, 50*ms)),
			once(span(2000*ms, 2100*ms), span(400*ms, 500*ms)),
			once(span(2000*ms, 2100*ms), span(20*ms, 50*ms)),
		},
		Setting: five(10*time.Second, allEvict(nemesis.At(1800*ms))...),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	}},
}

// evict has a node evict shortly after client 1 was granted the lock.
func evict(e nemesis.Evict) nemesis.Fault {
	return nemesis.Fault{Action: &e, Start: afterGrant(20 * ms)}
}

// allEvict has all five nodes evict whatever they have.
func allEvict(start nemesis.Trigger) (plan nemesis.Plan) {
	for node := 1; node <= 5; node++ {
		plan = append(plan, nemesis.Fault{Action: &nemesis.Evict{Node: node, Policy: nemesis.AllKeys}, Start: start})
	}
	return plan
}
