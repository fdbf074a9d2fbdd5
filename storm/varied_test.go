package storm_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// varied is a named scenario with a setting of another sort, in a storm of all
// kinds of faults. All of it follows from the seed.
func varied(seed uint64) scenarios.Scenario {
	random := rand.New(rand.NewPCG(seed, 0))
	s := pick(random, scenarios.All())
	s.Persistence = pick(random, []nemesis.Persistence{nemesis.Nothing, nemesis.EverySecond, nemesis.Always})
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
	return storm.InStorm(s, nemesis.Generator{Most: 1 + random.IntN(20), NoSwarm: random.IntN(2) == 0})
}

// connections are all sorts of connections.
var connections = []nemesis.Connections{{}, {Limit: 1}, {Limit: 3}, {Pipelined: true}}

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
	r, err := storm.Run(context.Background(), simulator, s, seed, nil)
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
				t.Errorf("%s, seed %d: %x, and on %d processors %x", s.Name, seed, one, procs, again)
			}
		}
	}
}

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// Traces are the same on every machine of an architecture, with the race
// detector and without. When the simulator has to do something else, run this
// test with -rewrite.
func TestGoldenTraces(t *testing.T) {
	// Kinds that are named, so that those to come change nothing here.
	kinds := nemesis.Weights{"power-loss": 1, "loss": 1, "latency": 1, "partition": 1, "pause": 1, "clock-rate": 1, "clock-jump": 1}
	var got bytes.Buffer
	for _, name := range []string{"calm", "crash-restart", "clock-drift", "fenced-write"} {
		plain := find(t, name)
		stormy := storm.InStorm(plain, nemesis.Generator{Faults: kinds, Most: 6})
		for seed := range uint64(5) {
			_, _ = fmt.Fprintf(&got, "%s %d %016x, in a storm %016x\n", name, seed, traceOf(t, plain, seed, 2), traceOf(t, stormy, seed, 2))
		}
	}
	file := "testdata/traces_" + runtime.GOARCH + ".txt"
	if *rewrite {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		t.Skipf("there are no golden traces of %s: floating point may differ between architectures", runtime.GOARCH)
	}
	if err != nil || !bytes.Equal(want, got.Bytes()) {
		t.Errorf("the traces are not those of %s (see this test's comment; %v):\n%s", file, err, got.Bytes())
	}
}
