package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// duplicates is what becomes of a lock whose requests a proxy sends twice.
var duplicates = []Row{
	{Scenario: Scenario{
		Name:    "duplicate-set",
		Summary: "a proxy sends each SET of the holder once more when the holder has released: the keys stand again, and nobody knows of them",
		Lock:    quickLock,
		Clients: []Client{
			once(exactly(0), span(100*ms, 150*ms)),
			once(span(650*ms, 700*ms), span(300*ms, 400*ms)),
			once(span(650*ms, 700*ms), span(300*ms, 400*ms)),
		},
		Setting: five(8*time.Second, twice(1, 500*ms, nemesis.At(0), nemesis.When(1, env.StepGranted, 0))),
		Bounds:  quickBounds,
		Expect:  but(expect(holds, holds, holds, na), checker.Cleanup, violated),
	}, Cures: []Change{
		{"copies that come at once", each("duplicate", func(f *nemesis.Fault) { f.Action = &nemesis.Duplicate{Links: ofClient(1)} })},
	}},
	{Scenario: Scenario{
		Name:    "duplicate-delete",
		Summary: "a proxy sends each DEL of the holder's release once more when another holds the lock",
		Lock:    quickLock,
		Clients: successors,
		Setting: five(8*time.Second, twice(1, 300*ms, nemesis.When(1, env.StepBeforeRelease, 0), nemesis.When(1, env.StepReleased, 0))),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	}, Damages: []Damage{
		{checker.Lease, "a DEL that does not look whose key it deletes", func(s *Scenario) {
			s.Lock, s.Nodes = Lock{Kind: "setnx-del", TTL: quickLock.TTL, NodeTimeout: quickLock.NodeTimeout, Retry: quickLock.Retry}, 1
		}},
	}},
	{VariantOf: "duplicate-delete", Scenario: Scenario{
		Name:    "duplicate-extension",
		Summary: "a proxy sends each extension once more when the holder has released and another holds the lock",
		Lock:    quickLock,
		Clients: []Client{
			extending(once(exactly(0), span(450*ms, 500*ms)), 400*ms),
			successors[1], successors[1],
		},
		Setting: five(8*time.Second, twice(1, 400*ms, nemesis.When(1, env.StepExtend, 0), nemesis.When(1, env.StepExtended, 0))),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	}},
}

// successors are a holder who is soon done, and others who want the lock meanwhile and
// hold it for longer.
var successors = []Client{
	once(exactly(0), span(100*ms, 150*ms)),
	once(span(50*ms, 100*ms), span(500*ms, 600*ms)),
	once(span(50*ms, 100*ms), span(500*ms, 600*ms)),
}

// twice has all that a client sends in a time come to the nodes once more, so much later.
func twice(client int, later time.Duration, start, end nemesis.Trigger) nemesis.Fault {
	return nemesis.Fault{
		Action: &nemesis.Duplicate{Links: ofClient(client), After: nemesis.Distribution{Range: exactly(later)}},
		Start:  start, End: &end,
	}
}

func ofClient(client int) nemesis.Links { return nemesis.Links{Clients: []int{client}} }
