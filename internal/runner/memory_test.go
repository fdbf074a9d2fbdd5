package runner_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

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

// heapNearEnd runs a scenario, whose clients do so many rounds in all, and
// returns what is live on the heap when nine of ten have been done, above what
// was before.
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
	}{{"one client", cycles(1, 1, 1), 5_000}, {"ten clients and faults", stormy(), 500}} {
		t.Run(c.name, func(t *testing.T) {
			short, long := heapNearEnd(t, c.scenario, c.rounds), heapNearEnd(t, c.scenario, 10*c.rounds)
			t.Logf("%d KB after %d rounds, %d KB after ten times as many", short>>10, c.rounds, long>>10)
			if float64(long) > 1.3*float64(short)+1<<20 {
				t.Errorf("memory grows with the length of a run: %d KB are live after %d rounds and %d KB after ten times as many; something is kept for each grant, key or wait", short>>10, c.rounds, long>>10)
			}
		})
	}
}
