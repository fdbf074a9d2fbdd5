package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// network is what delays and partitions do.
var network = []Row{
	{Scenario: Scenario{
		Name:    "calm",
		Summary: "clients compete, one of them extends its lock, and nothing goes wrong",
		Lock:    quickLock,
		Clients: []Client{
			often(10, span(5*ms, 20*ms), span(10*ms, 100*ms)),
			often(10, span(5*ms, 20*ms), span(10*ms, 100*ms)),
			extending(holding(2, span(0, 50*ms), span(1200*ms, 1500*ms), exactly(50*ms)), 300*ms),
		},
		Setting: five(20 * time.Second),
		Bounds:  tellingBounds,
		Expect:  expect(holds, holds, holds, na),
	}},
	{Scenario: Scenario{
		Name:    "slow-acquire",
		Summary: "replies can take longer than the TTL; the lock waits for them and has to see that it is too late",
		Claims:  Claims{Kleppmann: "unsafe", Antirez: "safe: it checks time"},
		Lock:    patientLock,
		Clients: []Client{
			holding(8, span(0, 100*ms), span(50*ms, 1500*ms), span(0, 200*ms)),
			holding(8, span(0, 100*ms), span(50*ms, 1500*ms), span(0, 200*ms)),
		},
		Setting: five(40*time.Second, nemesis.Fault{
			Action: &nemesis.Latency{Links: nemesis.Links{Nodes: []int{2, 3, 4, 5}}, Add: nemesis.Distribution{Range: span(0, 700*ms)}},
			Start:  nemesis.At(0),
			End:    &nemesis.Trigger{At: 20 * time.Second},
		}),
		Bounds: patientBounds,
		Expect: expect(holds, holds, na, na),
	}},
	{Scenario: Scenario{
		Name:    "partition-after-acquire",
		Summary: "the holder is cut off from every node before it can release",
		Claims:  Claims{Antirez: "safe: costs a TTL"},
		Lock:    quickLock,
		Clients: commuters,
		Setting: five(20*time.Second, cutOffAtWork(1)),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	}},
	{VariantOf: "partition-after-acquire", Scenario: Scenario{
		Name:    "partition-after-acquire-many",
		Summary: "the same after each of its first four grants: each costs a TTL",
		Claims:  Claims{Antirez: "safe: costs a TTL each, can be for ever"},
		Lock:    quickLock,
		Clients: commuters,
		Setting: five(30*time.Second, cutOffAtWork(1), cutOffAtWork(2), cutOffAtWork(3), cutOffAtWork(4)),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	}},
	{Scenario: minority("minority-partition", "two of five nodes cannot be reached for a while",
		&nemesis.Partition{Links: nemesis.Links{Nodes: []int{4, 5}}})},
	{VariantOf: "minority-partition", Scenario: minority("minority-partition-one-way", "two of five nodes can be sent requests for a while, and cannot reply",
		&nemesis.Partition{Links: nemesis.Links{Nodes: []int{4, 5}}, Way: nemesis.Replies})},
	{VariantOf: "minority-partition", Scenario: minority("minority-partition-per-client", "one client cannot reach two of five nodes for a while",
		&nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: []int{4, 5}}})},
	{VariantOf: "minority-partition", Scenario: Scenario{
		Name:    "minority-partition-bridge",
		Summary: "each client reaches two nodes that the other does not, and both reach node 3, for ever",
		Claims:  Claims{Antirez: "available"},
		Lock:    quickLock,
		Clients: visitors,
		Setting: five(20*time.Second, nemesis.Fault{
			Action: &nemesis.Split{Groups: []nemesis.Group{
				{Clients: []int{1}, Nodes: []int{1, 2, 3}},
				{Clients: []int{2}, Nodes: []int{3, 4, 5}},
			}},
			Start: nemesis.At(0),
		}),
		Bounds: quickBounds,
		Expect: expect(holds, holds, holds, na), // L2 speaks of nodes that all clients reach
	}},
	{Scenario: majority("majority-partition", "three of five nodes cannot be reached for a while: nobody is granted the lock until they can",
		&nemesis.Partition{Links: nemesis.Links{Nodes: []int{3, 4, 5}}})},
	{VariantOf: "majority-partition", Scenario: majority("majority-partition-one-way", "three of five nodes can be sent requests for a while, and cannot reply",
		&nemesis.Partition{Links: nemesis.Links{Nodes: []int{3, 4, 5}}, Way: nemesis.Replies})},
	{VariantOf: "majority-partition", Scenario: majority("majority-partition-per-client", "one client cannot reach three of five nodes for a while",
		&nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: []int{3, 4, 5}}})},
	{VariantOf: "majority-partition", Scenario: majority("majority-partition-bridge", "the network splits for a while; client 3 alone reaches both sides, client 1 only the two nodes of its own",
		&nemesis.Split{Groups: []nemesis.Group{
			{Clients: []int{1, 3}, Nodes: []int{1, 2}},
			{Clients: []int{2, 3}, Nodes: []int{3, 4, 5}},
		}})},
}

// visitors are clients that want the lock now and then.
var visitors = []Client{
	often(6, span(5*ms, 20*ms), span(200*ms, 600*ms)),
	often(6, span(5*ms, 20*ms), span(200*ms, 600*ms)),
}

// commuters want it longer.
var commuters = []Client{
	often(8, span(30*ms, 60*ms), span(100*ms, 300*ms)),
	often(20, span(5*ms, 20*ms), span(100*ms, 300*ms)),
}

// cutOffAtWork takes all links of client 1 away as it works under its n-th grant, and
// gives them back when that has long expired.
func cutOffAtWork(n int) nemesis.Fault {
	f := cutOff(1)
	f.Start, f.End = nth(n, afterGrant(10*ms)), nemesis.After(1500*ms)
	return f
}

// minority is a scenario in which clients lose some nodes for two seconds, and
// keep a majority that no client has lost.
func minority(name, summary string, cut nemesis.Action) Scenario {
	return Scenario{
		Name:    name,
		Summary: summary,
		Claims:  Claims{Antirez: "available"},
		Lock:    quickLock,
		Clients: visitors,
		Setting: five(20*time.Second, nemesis.Fault{Action: cut, Start: nemesis.At(0), End: nemesis.After(2 * time.Second)}),
		Bounds:  tries(quickBounds, 3),
		Expect:  expect(holds, holds, holds, holds),
	}
}

// majority is a scenario in which some client loses a majority for two seconds.
func majority(name, summary string, cut nemesis.Action) Scenario {
	return Scenario{
		Name:    name,
		Summary: summary,
		Claims:  Claims{Antirez: "unavailable, then back"},
		Lock:    quickLock,
		Clients: append(visitors[:2:2], visitors[0]),
		Setting: five(20*time.Second, nemesis.Fault{Action: cut, Start: nemesis.At(500 * ms), End: nemesis.After(2 * time.Second)}),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	}
}
