package storm_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/sim"
	"github.com/lockstorm/lockstorm/storm"
)

var simulator = storm.Backend{Name: "sim", Faults: sim.Faults(), Exact: true, Keys: true, Open: storm.Opener(sim.Open)}

// cycles is a world without faults in which each client locks and releases a
// resource of its own as fast as it can.
func cycles(clients, rounds int) scenarios.Scenario {
	calm, err := scenarios.Find("calm")
	if err != nil {
		panic(err)
	}
	s := scenarios.Scenario{Name: "cycles", Lock: calm.Lock, Setting: calm.Setting, Bounds: calm.Bounds}
	s.Latency = nemesis.Distribution{Range: nemesis.Range{Min: 100 * time.Microsecond, Max: 300 * time.Microsecond}}
	s.Horizon = 1000 * time.Hour
	for c := range clients {
		s.Clients = append(s.Clients, scenarios.Client{Workload: "hold", Resource: string(rune('a' + c)), Rounds: rounds})
	}
	s.Setting.Clients = clients
	return s
}

// BenchmarkCycles measures acquire and release over five simulated nodes, with
// the hold's context, the drains of stragglers, and every event judged.
func BenchmarkCycles(b *testing.B) {
	for _, c := range []struct {
		name    string
		clients int
	}{{"one-client", 1}, {"ten-clients", 10}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			rounds := max(b.N/c.clients, 1)
			r, err := storm.Run(context.Background(), simulator, cycles(c.clients, rounds), 1, nil)
			if err != nil {
				b.Fatal(err)
			}
			if got := r.Report.Measurements.Grants; got != rounds*c.clients {
				b.Fatalf("%d grants of %d", got, rounds*c.clients)
			}
			b.ReportMetric(float64(r.Report.Measurements.Grants)/b.Elapsed().Seconds(), "cycles/s")
		})
	}
}

// BenchmarkWorlds measures small worlds with a fault, from opening to verdict.
func BenchmarkWorlds(b *testing.B) {
	s, err := scenarios.Find("crash-restart")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := range b.N {
		if _, err := storm.Run(context.Background(), simulator, s, uint64(i), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "worlds/s")
}
