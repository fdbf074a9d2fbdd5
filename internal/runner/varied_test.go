package runner_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// varied is a named scenario with a setting of another sort, in a storm of all
// kinds of faults. All of it follows from the seed.
func varied(seed uint64) scenarios.Scenario {
	random := rand.New(rand.NewPCG(seed, 0))
	s := pick(random, scenarios.All())
	own := s.Persistence
	if s.Persistence = pick(random, []nemesis.Persistence{nemesis.Nothing, nemesis.EverySecond, nemesis.Always}); s.Validate() != nil {
		s.Persistence = own // which the scenario's own plan needs
	}
	s.Sync = upTo(pick(random, []time.Duration{0, ms, 20 * ms}))
	if lag := upTo(pick(random, []time.Duration{0, ms, 50 * ms})); lag != nil { // the scenario's own plan may need one
		s.Replication = lag
	}
	s.Connections = pick(random, connections)
	s.Guard = pick(random, []guard.Mode{s.Guard, guard.Plain, guard.FencedWrites, guard.Fenced, guard.Token})
	s.Lock.Clock = pick(random, []string{s.Lock.Clock, "monotonic", "boottime", "wall"})
	switch random.IntN(8) {
	case 0:
		s.Lock.Quarantine = s.Lock.TTL
	case 1:
		s.Lock.Fence = "quorum"
	case 2:
		s.Lock.Watchdog = scenarios.Watchdog{Every: s.Lock.TTL / 3, Limit: random.IntN(4)}
	case 3:
		s.Lock.Sequential = true
	case 4:
		s.Lock.Tokens = "time"
	}
	if random.IntN(3) == 0 {
		s.Clients = slices.Clone(s.Clients)
		for i := range s.Clients {
			s.Clients[i].ExtendEvery = s.Lock.TTL / 3
		}
	}
	return runner.InStorm(s, nemesis.Generator{Most: 1 + random.IntN(20), NoSwarm: random.IntN(2) == 0})
}

// connections are all sorts of connections.
var connections = []nemesis.Connections{{}, {Limit: 1}, {Limit: 3}, {Pipelined: true}, {Batched: true}}

func pick[T any](random *rand.Rand, of []T) T { return of[random.IntN(len(of))] }

// upTo is a uniform distribution up to d, or none at all.
func upTo(d time.Duration) *nemesis.Distribution {
	if d == 0 {
		return nil
	}
	return &nemesis.Distribution{Range: nemesis.Range{Max: d}}
}

// traceOf runs a scenario on so many processors.
func traceOf(t *testing.T, s scenarios.Scenario, seed uint64, procs int) uint64 {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	r, err := runner.Run(context.Background(), simulator, s, seed, nil)
	if err != nil {
		t.Fatalf("%s, seed %d: %v", s.Name, seed, err)
	}
	return r.TraceHash
}

// Law: whatever the setting is and whatever is drawn for it, a run does not end
// with an error, and a repetition has the same trace, on one processor and on
// two.
func TestEveryStormCanBeRepeated(t *testing.T) {
	for seed := range uint64(350) {
		s := varied(seed)
		one := traceOf(t, s, seed, 1)
		for procs := 1; procs <= 2; procs++ {
			if again := traceOf(t, s, seed, procs); again != one {
				t.Errorf("a storm on %s with seed %d cannot be repeated: the trace was %x, and again, on %d processors, %x", s.Name, seed, one, procs, again)
			}
		}
	}
}
