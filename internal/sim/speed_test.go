package sim_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

var cycles = flag.Int("cycles", 2000, "how many acquisitions each way of TestSpeed makes")

// The same lock, the same clients and the same judges: on a bare queue of as
// many events (which does nothing but keep their order), in the simulator, and
// on goroutines in a bubble of testing/synctest. Nothing is asserted of times:
// go test ./internal/sim -run TestSpeed -v -args -cycles 300000 prints them.
func TestSpeed(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // as the command does
	t.Logf("%-26s %14s %14s %14s %9s %9s", "", "sim", "bare queue", "synctest", "of queue", "of sync.")
	for _, c := range []struct {
		name               string
		clients, resources int
	}{{"1 client", 1, 1}, {"10 clients, 64 resources", 10, 64}} {
		s := racing(t, c.clients, c.resources, *cycles/c.clients)
		simulated, events := inSimulator(t, s)
		floor := onQueue(events, 10*c.clients)
		bubbled := inBubble(t, s)
		t.Logf("%-26s %12.0f/s %12.0f/s %12.0f/s %9.2f %9.1f (%.0f events a cycle)", c.name,
			perSecond(simulated), perSecond(floor), perSecond(bubbled),
			float64(floor)/float64(simulated), float64(bubbled)/float64(simulated), float64(events)/float64(*cycles))
	}
}

// perSecond is how many cycles go in a second if all took so long.
func perSecond(d time.Duration) float64 { return float64(*cycles) / d.Seconds() }

// racing is a world without faults in which clients lock and release as fast
// as they can.
func racing(t *testing.T, clients, resources, rounds int) scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Find("calm")
	if err != nil {
		t.Fatal(err)
	}
	s.Expect = nil
	s.Latency = nemesis.Distribution{Range: nemesis.Range{Min: 100 * time.Microsecond, Max: 300 * time.Microsecond}}
	s.Horizon, s.MaxEvents = nemesis.MaxDuration, math.MaxInt
	s.Clients = nil
	for range clients {
		s.Clients = append(s.Clients, scenarios.Client{Workload: "hold", Resource: "r", Resources: resources, Rounds: rounds})
	}
	return s
}

func inSimulator(t *testing.T, s scenarios.Scenario) (took time.Duration, events uint64) {
	var opened *sim.World
	backend := runner.Backend{Ability: nemesis.Ability{Name: "sim"}, Keys: true, Open: runner.Opener(
		func(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (w *sim.World, err error) {
			opened, err = sim.Open(ctx, s, seed, sink)
			return opened, err
		})}
	took = timed(t, backend, s)
	return took, opened.Pushed()
}

func inBubble(t *testing.T, s scenarios.Scenario) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		took = timed(t, runner.Backend{Ability: nemesis.Ability{Name: "bubble"}, Keys: true, Open: runner.Opener(openBubble)}, s)
	})
	return took
}

// timed runs the scenario and makes sure that the run was what it should be.
func timed(t *testing.T, b runner.Backend, s scenarios.Scenario) time.Duration {
	t.Helper()
	watch := newStopwatch()
	r, err := runner.Run(t.Context(), b, s, 1, nil)
	took := watch()
	if err != nil {
		t.Fatal(err)
	}
	want := *cycles / len(s.Clients) * len(s.Clients)
	if got := r.Report.Measurements.Grants; got != want {
		t.Errorf("%s: %d grants, want %d", b.Name, got, want)
	}
	for _, p := range []checker.Property{checker.Lease, checker.Contract} {
		if f := r.Report.Finding(p); f.Verdict != checker.Holds {
			t.Errorf("%s: %s is %v: %s", b.Name, p, f.Verdict, f.Story())
		}
	}
	return took
}

func onQueue(events uint64, waiting int) time.Duration {
	watch := newStopwatch()
	if sim.Churn(events, waiting) == 0 {
		panic(fmt.Sprintf("%d events took no time", events))
	}
	return watch()
}
