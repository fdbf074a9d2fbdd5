package runner_test

import (
	"context"
	"math"
	"runtime/debug"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

var simulator = simulated.Backend()

// prepared returns the experiment of a scenario that can be run.
func prepared(t testing.TB, b runner.Backend, s scenarios.Scenario) runner.Experiment {
	t.Helper()
	e, err := runner.Prepare(b, s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// cycles is a world without faults in which clients lock and release as fast as
// they can, each round one of the resources.
func cycles(clients, resources, rounds int) scenarios.Scenario {
	calm, err := scenarios.Find("calm")
	if err != nil {
		panic(err)
	}
	s := scenarios.Scenario{Name: "cycles", Lock: calm.Lock, Setting: calm.Setting, Bounds: calm.Bounds}
	s.Latency = nemesis.Distribution{Range: nemesis.Range{Min: 100 * time.Microsecond, Max: 300 * time.Microsecond}}
	s.Horizon, s.MaxEvents = 1000*time.Hour, math.MaxInt
	for range clients {
		s.Clients = append(s.Clients, scenarios.Client{Workload: "hold", Resource: "r", Resources: resources, Rounds: rounds})
	}
	return s
}

// asTheCommand makes the garbage collector run as seldom as the command does,
// see cmd/lockstorm.
func asTheCommand(b *testing.B) {
	before := debug.SetGCPercent(800)
	b.Cleanup(func() { debug.SetGCPercent(before) })
}

// The delays between tries: those of the scenarios, and some that make clients
// collide again and again.
var (
	patient = nemesis.Range{Min: 20 * time.Millisecond, Max: 80 * time.Millisecond}
	hasty   = nemesis.Range{Min: 500 * time.Microsecond, Max: 2 * time.Millisecond}
)

// BenchmarkCycles measures acquire and release over five simulated nodes, with
// the hold's context, the drains of stragglers, and every event judged.
func BenchmarkCycles(b *testing.B) {
	for _, c := range []struct {
		name               string
		clients, resources int
		retry              nemesis.Range
	}{{"one-client", 1, 1, patient}, {"ten-clients-64-resources", 10, 64, patient}, {"ten-clients-fighting", 10, 1, hasty}} {
		b.Run(c.name, func(b *testing.B) {
			asTheCommand(b)
			b.ReportAllocs()
			rounds := max(b.N/c.clients, 1)
			s := cycles(c.clients, c.resources, rounds)
			s.Lock.Retry = c.retry
			r, err := runner.Run(context.Background(), simulator, s, 1, nil)
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

// BenchmarkWorlds measures small worlds with a fault, from opening to verdict:
// three clients that are granted the lock ten times each while a node crashes
// and comes back empty.
func BenchmarkWorlds(b *testing.B) {
	s := cycles(3, 1, 10)
	s.Plan = nemesis.Plan{{Action: &nemesis.Crash{Node: 3}, Start: nemesis.At(5 * time.Millisecond), End: nemesis.After(10 * time.Millisecond)}}
	e := prepared(b, simulator, s)
	asTheCommand(b)
	b.ReportAllocs()
	grants := 0
	for i := range b.N {
		r, err := e.Run(context.Background(), uint64(i), nil)
		if err != nil {
			b.Fatal(err)
		}
		grants += r.Report.Measurements.Grants
	}
	if grants != 30*b.N {
		b.Fatalf("%d grants of %d", grants, 30*b.N)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "worlds/s")
}

// BenchmarkBatch measures the same worlds on all cores.
func BenchmarkBatch(b *testing.B) {
	asTheCommand(b)
	s := cycles(3, 1, 10)
	tally, err := runner.Batch{Experiment: prepared(b, simulator, s), First: 1, Runs: b.N}.Run(context.Background())
	if err != nil || tally.Runs != b.N {
		b.Fatalf("%d runs of %d: %v", tally.Runs, b.N, err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "worlds/s")
}
