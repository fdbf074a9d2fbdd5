package shrink_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/hunt"
	"github.com/lockstorm/lockstorm/hunt/assume"
	"github.com/lockstorm/lockstorm/hunt/shrink"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
	"github.com/lockstorm/lockstorm/storm/simulated"
)

var (
	hunts = flag.Int("hunts", 3, "how many hunts are made for each violation of a row")
	table = flag.Bool("table", false, "print what each of them was shrunk to")
)

// network are the kinds of faults that shape a world.
var network = []nemesis.Kind{"partition", "split", "latency", "loss", "reset"}

// kindsOf are the kinds of a scenario's own plan, and those of the network.
func kindsOf(s scenarios.Scenario) nemesis.Weights {
	w := nemesis.Weights{}
	for _, k := range network {
		w[k] = 1
	}
	for _, f := range s.Plan {
		w[f.Action.Kind()] = 1
	}
	return w
}

// found returns the first run of a hunt that violates a property.
func found(t *testing.T, s scenarios.Scenario, p checker.Property, seed uint64) (shot hunt.Shot) {
	t.Helper()
	err := hunt.Hunt{
		Backend: simulated.Backend(), Ground: hunt.Around(s), Terms: assume.Anything,
		Wanted: []checker.Property{p}, Faults: kindsOf(s), Most: 6, Seed: seed, Blind: true,
		Each: func(s hunt.Shot) bool {
			shot = s
			return len(s.Broken) == 0 && s.Number < 20_000
		},
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return shot
}

// violates is what a run is shrunk for: it violates the same property.
func violates(p checker.Property) shrink.Shows {
	return func(ctx context.Context, s scenarios.Scenario, seed uint64) (bool, error) {
		r, err := storm.Run(ctx, simulated.Backend(), s, seed, nil)
		return r.Report.Finding(p).Verdict == checker.Violated, err
	}
}

func TestRows(t *testing.T) {
	for _, s := range scenarios.All() {
		for _, p := range checker.Properties() {
			if s.Expect[p] != checker.Violated {
				continue
			}
			t.Run(s.Name+"/"+p.String(), func(t *testing.T) {
				for seed := range uint64(*hunts) {
					shot := found(t, s, p, seed+1)
					if len(shot.Broken) == 0 {
						t.Logf("not found")
						continue
					}
					begin := time.Now()
					r, err := shrink.Shrinker{}.Shrink(t.Context(), shot.Scenario, shot.Seed, violates(p))
					if err != nil {
						t.Fatal(err)
					}
					z := shrink.SizeOf(r.Scenario)
					var kinds []string
					for _, f := range r.Scenario.Plan {
						kinds = append(kinds, string(f.Action.Kind()))
					}
					slices.Sort(kinds)
					fmt.Printf("%s\t%s\t%d\t%d clients %d causes %d cuts %d nodes %d rounds [%s] seeds %v runs %d %v\n", s.Name, p, shot.Number, z.Clients, z.Causes, z.Cuts, z.Nodes, z.Rounds, strings.Join(kinds, " "), r.Seeds, r.Runs, time.Since(begin).Round(time.Millisecond))
					if *table {
						var b strings.Builder
						_ = r.Scenario.Print(&b)
						fmt.Println(b.String())
					}
				}
			})
		}
	}
}
