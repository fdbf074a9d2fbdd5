package hunt_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/hunt"
	"github.com/lockstorm/lockstorm/hunt/assume"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm/simulated"
)

var (
	hunts    = flag.Int("hunts", 0, "how many hunts of each sort the gain of guidance is measured over; 0: it is not")
	hunted   = flag.String("subject", "", "the one subject that it is measured on; empty: all")
	patience = flag.Int("patience", 20_000, "runs after which a hunt is given up")
)

// subject is something to be found.
type subject struct {
	row    string
	wanted checker.Property
	faults string
	most   int
}

var subjects = []subject{
	{"crash-restart", checker.Lease, "all", 6},
	{"crash-restart", checker.Lease, "crash,power-loss,partition,split,latency", 6},
	{"crash-restart", checker.Lease, "crash", 6},
	{"crash-restart", checker.Lease, "crash,pause,latency,loss,reset,kill,cancel", 8},
	{"node-clock-jump", checker.Lease, "clock-jump,partition,latency,pause", 4},
	{"node-clock-jump", checker.Lease, "clock-rate,clock-slew,clock-freeze,latency,pause,cancel,reset,partition", 4},
	{"crash-restart", checker.Effect, "pause,guard-latency,latency,loss", 3},
	{"crash-restart", checker.Section, "latency,loss,partition,cancel,reset,crash", 4},
	{"crash-restart", checker.Cleanup, "all", 4},
	{"crash-restart", checker.Contract, "all", 4},
	{"crash-restart", checker.DeadlockFreedom, "all", 4},
	{"crash-restart", checker.FaultTolerance, "all", 4},
}

// runsToFind is how many runs a hunt takes.
func runsToFind(t *testing.T, s subject, seed uint64, blind bool) int {
	t.Helper()
	row, err := scenarios.Find(s.row)
	if err != nil {
		t.Fatal(err)
	}
	faults, err := nemesis.ParseWeights(s.faults)
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	err = hunt.Hunt{
		Backend: simulated.Backend(), Ground: hunt.Around(row), Terms: assume.Anything,
		Wanted: []checker.Property{s.wanted}, Faults: faults, Most: s.most, Seed: seed, Blind: blind,
		Each: func(s hunt.Shot) bool {
			last = s.Number
			return len(s.Broken) == 0 && s.Number < *patience
		},
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return last
}

func TestGuidanceGains(t *testing.T) {
	if *hunts == 0 {
		t.Skip("measured with -args -hunts 50")
	}
	for _, s := range subjects {
		if *hunted != "" && *hunted != s.row && *hunted != string(s.wanted) {
			continue
		}
		var runs [2][]int
		var took [2]time.Duration
		for i, blind := range []bool{true, false} {
			begin := time.Now()
			for seed := range uint64(*hunts) {
				runs[i] = append(runs[i], runsToFind(t, s, seed+1, blind))
			}
			took[i] = time.Since(begin)
			slices.Sort(runs[i])
		}
		low, high := interval(runs[0], runs[1])
		fmt.Printf("| %s %s %s | %s | %s | %.2f | %.2f to %.2f | %v %v\n", s.row, s.wanted.Code(), s.faults, shares(runs[0]), shares(runs[1]), mean(runs[0])/mean(runs[1]), low, high, took[0]/time.Duration(*hunts), took[1]/time.Duration(*hunts))
	}
}

func shares(sorted []int) string {
	at := func(p float64) int { return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))] }
	return fmt.Sprintf("%d | %d | %d", at(0.5), at(0.9), at(0.99))
}

func mean(list []int) float64 {
	sum := 0
	for _, n := range list {
		sum += n
	}
	return float64(sum) / float64(len(list))
}

// interval is the 95 % interval of the ratio of the means, by bootstrap.
func interval(blind, guided []int) (low, high float64) {
	random := rand.New(rand.NewPCG(1, 1))
	again := func(list []int) []int {
		drawn := make([]int, len(list))
		for i := range drawn {
			drawn[i] = list[random.IntN(len(list))]
		}
		return drawn
	}
	ratios := make([]float64, 4000)
	for i := range ratios {
		ratios[i] = mean(again(blind)) / math.Max(1, mean(again(guided)))
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/40], ratios[len(ratios)-len(ratios)/40]
}
