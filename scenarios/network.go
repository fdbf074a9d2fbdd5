package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// network is what delays and partitions do.
var network = []Scenario{
	{
		Name:    "calm",
		Summary: "clients compete, one of them extends its lock, and nothing goes wrong",
		Lock:    quickLock,
		Clients: []Client{
			often(10, span(5*ms, 20*ms), span(10*ms, 100*ms)),
			often(10, span(5*ms, 20*ms), span(10*ms, 100*ms)),
			extending(holding(2, span(0, 50*ms), span(1200*ms, 1500*ms), exactly(50*ms)), 300*ms),
		},
		Setting: five(20 * time.Second),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	},
	{
		Name:    "slow-acquire",
		Summary: "replies can take longer than the TTL; the lock waits for them and has to see that it is too late",
		Claims:  Claims{Kleppmann: "unsafe", Antirez: "safe: it checks time"},
		Lock:    patientLock,
		Clients: []Client{
			holding(8, span(0, 100*ms), span(50*ms, 1500*ms), span(0, 200*ms)),
			holding(8, span(0, 100*ms), span(50*ms, 1500*ms), span(0, 200*ms)),
		},
		Setting: five(30*time.Second, nemesis.Fault{
			Action: &nemesis.Latency{Links: nemesis.Links{Nodes: []int{2, 3, 4, 5}}, Add: nemesis.Distribution{Range: span(0, 700*ms)}},
			Start:  nemesis.At(0),
			End:    &nemesis.Moment{At: 20 * time.Second},
		}),
		Bounds: patientBounds,
		Expect: expect(holds, holds, na, na),
	},
	{
		Name:    "minority-partition",
		Summary: "two of five nodes cannot be reached for a while",
		Claims:  Claims{Antirez: "available"},
		Lock:    quickLock,
		Clients: []Client{
			often(6, span(5*ms, 20*ms), span(200*ms, 600*ms)),
			often(6, span(5*ms, 20*ms), span(200*ms, 600*ms)),
		},
		Setting: five(20*time.Second, nemesis.Fault{
			Action: &nemesis.Partition{Links: nemesis.Links{Nodes: []int{4, 5}}},
			Start:  nemesis.At(0),
			End:    &nemesis.Moment{At: 2 * time.Second},
		}),
		Bounds: tries(quickBounds, 3),
		Expect: expect(holds, holds, holds, holds),
	},
}
