package shrink_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
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
	hunts  = flag.Int("hunts", 2, "how many hunts are made for each row")
	within = flag.Int("within", 100, "after how many runs a hunt gives up")
	table  = flag.String("table", "", "a file for a table of what each find was shrunk to")
	told   = flag.String("told", "", "a file for the scenarios themselves")
)

// least is the fewest nodes of which one can fail while the others are still a
// majority: what goes wrong there is no affair of that one alone.
const least = 3

// needs is how many clients and causes a violation takes.
type needs struct {
	clients, causes int
	why             string
}

// more are the violations that take more than two clients and one cause.
var more = map[string]needs{
	"fence-increment":       {3, 0, "it takes three quorums of which each two have another node in common, and a cut gives a client one"},
	"frozen-clock-majority": {2, 2, "a key that does not expire bars the others only if its holder dies: one that lives deletes it"},
}

// wantStory checks that no more remains than has to be told.
func wantStory(t *testing.T, row string, s scenarios.Scenario) {
	t.Helper()
	n, known := more[row]
	if !known {
		n = needs{clients: 2, causes: 1}
	}
	if z := shrink.SizeOf(s); z.Clients > n.clients || z.Causes > n.causes {
		t.Errorf("%d clients and %d causes remain, want %d and %d at most:\n%s", z.Clients, z.Causes, n.clients, n.causes, text(t, s))
	}
}

// Law: what a row of the debate violates by its own plan is shrunk to two clients at
// most and one fault, beside what shapes the world.
func TestRowsAreShrunkToAStory(t *testing.T) {
	for _, s := range scenarios.All() {
		for _, p := range breaks(s) {
			t.Run(s.Name+"/"+p.String(), func(t *testing.T) {
				t.Parallel()
				seed := uint64(1)
				for ; ; seed++ {
					if shows, err := violates(p)(t.Context(), s, seed); err != nil || seed > 100 {
						t.Fatalf("no seed shows it, or it cannot be run: %v", err)
					} else if shows {
						break
					}
				}
				r, err := shrink.Shrinker{LeastNodes: min(least, s.Nodes)}.Shrink(t.Context(), s, seed, violates(p))
				if err != nil {
					t.Fatal(err)
				}
				wantStory(t, s.Name, r.Scenario)
			})
		}
	}
}

// Law: what a blind hunt finds of a row of the debate is shrunk to two clients at most
// and one fault, beside what shapes the world, as long as there are enough nodes for
// one to fail as if there are as few as can be. All hunts lead to the same number of
// clients and faults, of the same kinds.
func TestFindsAreShrunkToAStory(t *testing.T) {
	w := tellers{create(t, *table), create(t, *told)}
	w.head()
	wanted, shrunk := 0, 0
	for _, s := range scenarios.All() {
		broken := breaks(s)
		if len(broken) == 0 {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			wanted += len(broken) * *hunts
			minima := map[string][]string{}
			for seed := range uint64(*hunts) {
				finds := found(t, s, broken, seed+1)
				for _, p := range broken {
					if shot, ok := finds[p]; ok {
						shrunk++
						w.shrink(t, s, p, shot, minima)
					}
				}
			}
			for of, all := range minima {
				if slices.Sort(all); all[0] != all[len(all)-1] {
					t.Errorf("%s is shrunk to %s, or to %s", of, all[0], all[len(all)-1])
				}
			}
		})
	}
	if !t.Failed() && shrunk < wanted/2 {
		t.Errorf("%d of %d violations were found: too few to tell anything", shrunk, wanted)
	}
}

// breaks lists what a row expects to be violated.
func breaks(s scenarios.Scenario) []checker.Property {
	return slices.DeleteFunc(checker.Properties(), func(p checker.Property) bool { return s.Expect[p] != checker.Violated })
}

// found returns the first run of a hunt that violates each of some properties. It is
// told the kinds of faults in the row's own plan, and looks for the plan itself among
// those and what else a network does.
func found(t *testing.T, s scenarios.Scenario, wanted []checker.Property, seed uint64) map[checker.Property]hunt.Shot {
	t.Helper()
	kinds := nemesis.Weights{"partition": 9, "split": 1, "latency": 1, "loss": 1, "reset": 1}
	for _, f := range s.Plan {
		kinds[f.Action.Kind()] = 9
	}
	first := map[checker.Property]hunt.Shot{}
	err := hunt.Hunt{
		Backend: simulated.Backend(), Ground: hunt.Around(s), Terms: assume.Anything,
		Wanted: wanted, Faults: kinds, Most: 6, Seed: seed, Blind: true,
		Each: func(s hunt.Shot) bool {
			for _, p := range s.Broken {
				if _, known := first[p]; !known {
					first[p] = s
				}
			}
			return len(first) < len(wanted) && s.Number < *within
		},
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return first
}

// violates is what a run is shrunk for: it violates the same property.
func violates(p checker.Property) shrink.Shows {
	return func(ctx context.Context, s scenarios.Scenario, seed uint64) (bool, error) {
		r, err := storm.Run(ctx, simulated.Backend(), s, seed, nil)
		return r.Report.Finding(p).Verdict == checker.Violated, err
	}
}

// tellers are where it is told what finds were shrunk to.
type tellers struct{ table, told io.Writer }

func create(t *testing.T, name string) io.Writer {
	if name == "" {
		return io.Discard
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func (w tellers) head() {
	_, _ = fmt.Fprint(w.table, "| row | property | found in run | least nodes | faults | shrunk to | seeds of 1 to 5 | runs | time |\n|---|---|---|---|---|---|---|---|---|\n")
}

// shrink shrinks a find, with as few nodes as can be and with enough of them. To
// minima it adds what of it has to be the same for all hunts.
func (w tellers) shrink(t *testing.T, s scenarios.Scenario, p checker.Property, shot hunt.Shot, minima map[string][]string) {
	for _, nodes := range []int{1, min(least, s.Nodes)} {
		begin := time.Now()
		r, err := shrink.Shrinker{LeastNodes: nodes}.Shrink(t.Context(), shot.Scenario, shot.Seed, violates(p))
		if err != nil {
			t.Fatal(err)
		}
		z := shrink.SizeOf(r.Scenario)
		of := fmt.Sprintf("%s of %s with %d nodes or more", p, s.Name, nodes)
		minima[of] = append(minima[of], fmt.Sprintf("%d clients and %s", z.Clients, causes(r.Scenario)))
		wantStory(t, s.Name, r.Scenario)
		_, _ = fmt.Fprintf(w.table, "| %s | %v | %d | %d | %d | %d clients, %d nodes, %s, %d cuts | %d | %d | %v |\n", s.Name, p, shot.Number, nodes,
			len(shot.Scenario.Plan), z.Clients, z.Nodes, causes(r.Scenario), z.Cuts, small(r.Seeds), r.Runs, time.Since(begin).Round(time.Millisecond))
		_, _ = fmt.Fprintf(w.told, "# %s, run %d\n%s\n", of, shot.Number, text(t, r.Scenario))
	}
}

// causes lists the kinds of the faults that do not shape the world.
func causes(s scenarios.Scenario) string {
	var kinds []string
	for _, f := range s.Plan {
		if !shrink.Shapes(f) {
			kinds = append(kinds, string(f.Action.Kind()))
		}
	}
	if len(kinds) == 0 {
		return "no fault"
	}
	slices.Sort(kinds)
	return strings.Join(kinds, " and ")
}

// small counts the seeds from 1 to 5.
func small(seeds []uint64) (n int) {
	for _, seed := range seeds {
		if seed <= 5 {
			n++
		}
	}
	return n
}
