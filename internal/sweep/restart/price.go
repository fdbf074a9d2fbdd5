package restart

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Price is what the delay costs: three clients want the lock all the time, each for a short
// while, and 1 to 5 of the five nodes crash and stay away. Of interest are the
// measurements: availability and the outages, of which the longest is, with three nodes or
// more, the time from the crash to the next grant. They are those of four TTLs in which
// this happens once. There is no formula, and in [Delay] these figures mean little: its
// holder holds on while others starve, as it is meant to.
//
// A run takes some milliseconds, ten times as long as one of Delay, and its figures vary
// little.
func Price() sweep.Sweep {
	s := sweep.Sweep{
		Name:     "restart-delay-price",
		Summary:  "what it costs clients in steady contention that nodes stay away after a crash",
		Property: checker.Lease,
		Params:   params,
		Runs:     100,
	}
	for k := 1; k <= 5; k++ {
		for away := range delays {
			s.Points = append(s.Points, sweep.Point{
				Curve:    fmt.Sprintf("price, %d crash", k),
				At:       []float64{away.Seconds() / ttl.Seconds(), float64(k)},
				Scenario: contended(k, away),
			})
		}
	}
	return s
}

// contended is clients who share the lock, while k nodes crash and stay away.
func contended(k int, away time.Duration) scenarios.Scenario {
	s := scenarios.Scenario{
		Name:    fmt.Sprintf("restart-delay-price-%d-%d", k, away/ms),
		Summary: fmt.Sprintf("three clients in steady contention; %d of five nodes crash and are back after %v", k, away),
		Lock:    lock(between(5*ms, 20*ms)),
		Setting: nemesis.Setting{
			Nodes: 5, Persistence: nemesis.Nothing,
			Latency: nemesis.Distribution{Range: between(200*us, 1*ms)}, Horizon: 4 * ttl,
		},
	}
	for range 3 {
		s.Clients = append(s.Clients, scenarios.Client{
			Workload: "hold", Resource: "invoice-7",
			Work: between(10*ms, 40*ms), Think: between(0, 20*ms),
			Rounds: 10_000, // to the end
		})
	}
	for _, n := range first(k) {
		s.Plan = append(s.Plan, nemesis.Fault{Action: &nemesis.Crash{Node: n}, Start: nemesis.At(crashAt), End: nemesis.After(away)})
	}
	return s
}
