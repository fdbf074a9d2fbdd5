package hunt_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/hunt"
	"github.com/lockstorm/lockstorm/hunt/assume"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm/simulated"
)

var (
	hunts    = flag.Int("hunts", 0, "over how many hunts of each sort the gain of guidance is measured; 0: it is not")
	patience = flag.Int("patience", 5_000, "after how many runs one of these hunts is given up")
	only     = flag.Int("subject", 0, "the number of the one subject to measure on; 0: all")
)

// subject is something to be found.
type subject struct {
	row    string
	wanted checker.Property
	faults string
	most   int
}

// subjects are hard by how many things have to come together, of many that may.
var subjects = []subject{
	{"crash-restart", checker.Lease, "crash,pause,latency,loss,reset,kill,cancel", 8},
	{"node-clock-jump", checker.Lease, "clock-jump,partition,latency,pause", 4},
	{"clock-drift-beyond", checker.Lease, "clock-rate,partition,latency,loss,reset,bandwidth,split", 6},
}

// the hunt for a subject, on a ground.
func (s subject) hunt(ground hunt.Ground, seed uint64, blind bool) (hunt.Hunt, error) {
	faults, err := nemesis.ParseWeights(s.faults)
	return hunt.Hunt{
		Backend: simulated.Backend(), Ground: ground, Terms: assume.Anything,
		Wanted: []checker.Property{s.wanted}, Faults: faults, Most: s.most, Seed: seed, Blind: blind,
	}, err
}

// chase hunts until something is found, or for so many runs.
func chase(t *testing.T, h hunt.Hunt, most int) (c hunt.Chase) {
	t.Helper()
	h.Each = func(s hunt.Shot) bool {
		c.Runs, c.Found = s.Number, len(s.Broken) > 0
		return !c.Found && c.Runs < most
	}
	if err := h.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestGuidanceGains prints the table of docs/hunt.md: go test ./hunt -run
// TestGuidanceGains -timeout 0 -args -hunts 16 -patience 2000. A hunt that is given up counts as if it
// had found something then, which is to the advantage of the worse.
func TestGuidanceGains(t *testing.T) {
	if *hunts == 0 {
		t.Skip("without -hunts nothing is measured")
	}
	fmt.Fprintf(os.Stderr, "Runs to the first find over %d hunts, given up after %d: median, p90, p99.\n\n", *hunts, *patience)
	fmt.Fprintln(os.Stderr, "| row | property | faults | blind | guided | ratio of means | 95 % interval |")
	fmt.Fprintln(os.Stderr, "|---|---|---|---|---|---|---|")
	for i, s := range subjects {
		if *only > 0 && *only != i+1 {
			continue
		}
		row, err := scenarios.Find(s.row)
		if err != nil {
			t.Fatal(err)
		}
		took := map[bool]hunt.Chases{}
		for _, blind := range []bool{true, false} {
			for seed := range uint64(*hunts) {
				h, err := s.hunt(hunt.Around(row), 1+seed, blind)
				if err != nil {
					t.Fatal(err)
				}
				took[blind] = append(took[blind], chase(t, h, *patience))
			}
		}
		low, high := interval(took[true], took[false])
		fmt.Fprintf(os.Stderr, "| %s | %s | %s, up to %d | %s | %s | %.2f | %.2f to %.2f |\n", s.row, s.wanted.Code(), strings.ReplaceAll(s.faults, ",", ", "), s.most,
			quantiles(took[true]), quantiles(took[false]), mean(took[true])/mean(took[false]), low, high)
	}
}

func quantiles(list hunt.Chases) string {
	var parts []string
	for _, percent := range []float64{50, 90, 99} {
		part := "–"
		if n, found := list.Runs(percent); found {
			part = fmt.Sprint(n)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

func mean(list hunt.Chases) float64 {
	sum := 0
	for _, c := range list {
		sum += c.Runs
	}
	return float64(sum) / float64(len(list))
}

// interval is that of the ratio of the means, by bootstrap.
func interval(blind, guided hunt.Chases) (low, high float64) {
	random := rand.New(rand.NewPCG(1, 1))
	again := func(list hunt.Chases) hunt.Chases {
		drawn := make(hunt.Chases, len(list))
		for i := range drawn {
			drawn[i] = list[random.IntN(len(list))]
		}
		return drawn
	}
	ratios := make([]float64, 4000)
	for i := range ratios {
		ratios[i] = mean(again(blind)) / mean(again(guided))
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/40], ratios[len(ratios)-len(ratios)/40]
}
