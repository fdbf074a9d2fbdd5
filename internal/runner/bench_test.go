package runner_test

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
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

// smallWorld is three clients that are granted the lock ten times each while a node crashes
// and comes back empty.
func smallWorld() scenarios.Scenario {
	s := cycles(3, 1, 10)
	s.Plan = nemesis.Plan{{Action: &nemesis.Crash{Node: 3}, Start: nemesis.At(5 * ms), End: nemesis.After(10 * ms)}}
	return s
}

// BenchmarkWorlds measures small worlds with a fault, from opening to verdict.
func BenchmarkWorlds(b *testing.B) {
	e := prepared(b, simulator, smallWorld())
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

// gauge is a sink that keeps nothing and measures the live heap when so many
// releases have returned.
type gauge struct {
	after int
	heap  uint64 // bytes
}

func (g *gauge) Record(e *history.Event) {
	if e.Kind != history.Released {
		return
	}
	if g.after--; g.after == 0 {
		g.heap = liveHeap()
	}
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// heapNearEnd runs a scenario whose clients make so many rounds in all, and returns the growth of
// the live heap when nine of ten are done.
func heapNearEnd(t *testing.T, s scenarios.Scenario, rounds int) uint64 {
	t.Helper()
	for i := range s.Clients {
		s.Clients[i].Rounds = rounds / len(s.Clients)
	}
	before := liveHeap()
	g := &gauge{after: rounds * 9 / 10}
	if _, err := runner.Run(context.Background(), simulator, s, 1, g); err != nil {
		t.Fatal(err)
	}
	if g.after > 0 {
		t.Fatalf("the run ended %d releases before nine tenths of its rounds", g.after)
	}
	return max(g.heap, before) - before
}

// stormy is ten clients who contend for three resources, extend, and write,
// while nodes are slow, cut off, down or fast.
func stormy() scenarios.Scenario {
	s := cycles(10, 1, 1)
	for i := range s.Clients {
		c := &s.Clients[i]
		c.Resource = string(rune('a' + i%3))
		c.Workload = []string{"hold", "section"}[i%2]
		c.Work = nemesis.Range{Max: 20 * ms}
		c.Think = nemesis.Range{Max: 30 * ms}
		c.ExtendEvery = 7 * ms
	}
	s.Lock.Retry = nemesis.Range{Min: ms, Max: 10 * ms}
	some := nemesis.Links{Clients: []int{1, 2, 3}, Nodes: []int{1}}
	s.Plan = nemesis.Plan{
		{Action: &nemesis.Partition{Links: some, Way: nemesis.Replies}},
		{Action: &nemesis.Latency{Links: nemesis.Links{Nodes: []int{2}}, Add: nemesis.Distribution{Range: nemesis.Range{Max: 60 * ms}}}},
		{Action: &nemesis.Crash{Node: 3}, Start: nemesis.At(time.Second)},
		{Action: &nemesis.ClockRate{Machine: nemesis.Machine{Node: 4}, PPM: 10_000}},
		{Action: &nemesis.Pause{Client: 4}, Start: nemesis.At(time.Second), End: nemesis.After(time.Second)},
		{Action: &nemesis.Cancel{Client: 5}, Start: nemesis.At(time.Second)},
	}
	return s
}

// Law: where only verdicts are kept, memory does not grow with the length of a
// run.
func TestMemoryIsFlat(t *testing.T) {
	for _, c := range []struct {
		name     string
		scenario scenarios.Scenario
		rounds   int
	}{{"one client", cycles(1, 1, 1), 1_000}, {"ten clients and faults", stormy(), 100}} {
		t.Run(c.name, func(t *testing.T) {
			short, long := heapNearEnd(t, c.scenario, c.rounds), heapNearEnd(t, c.scenario, 10*c.rounds)
			t.Logf("%d KB after %d rounds, %d KB after ten times as many", short>>10, c.rounds, long>>10)
			if float64(long) > 1.3*float64(short)+1<<20 {
				t.Errorf("memory grows with the length of a run: %d KB are live after %d rounds and %d KB after ten times as many; something is kept for each grant, key or wait", short>>10, c.rounds, long>>10)
			}
		})
	}
}
