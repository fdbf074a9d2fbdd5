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

// subjects are easy at first. What makes one hard is how many things have to come
// together: a node's key can go by one fault, but it takes three, or one and a quorum
// that is bare.
var subjects = []subject{
	{"crash-restart", checker.Lease, "all", 6},
	{"crash-restart", checker.Lease, "crash,partition,split,latency", 6},
	{"crash-restart", checker.Effect, "pause,guard-latency,latency,loss", 3},
	{"failover", checker.Lease, "all", 6},
	{"crash-restart", checker.Lease, "crash,pause,latency,loss,reset,kill,cancel", 8},
	{"node-clock-jump", checker.Lease, "clock-jump,partition,latency,pause", 4},
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
// TestGuidanceGains -timeout 0 -args -hunts 50. A hunt that is given up counts as if it
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

// fixed is a ground of one scenario just as it is.
type fixed struct{ scenarios.Scenario }

func (f fixed) Name() string { return f.Scenario.Name }

func (f fixed) Draw(*rand.Rand) scenarios.Scenario {
	s := f.Scenario
	s.Plan, s.Expect = nil, nil
	return s
}

// Where several things have to come together guidance does no harm: it finds them no
// more rarely than blind draws do, but for chance. How much it gains takes more hunts
// than a test may make: TestGuidanceGains measures it.
func TestGuidanceDoesNoHarm(t *testing.T) {
	const most, tries = 150, 30 // of runs, and hunts
	const chance = 4            // the standard deviation of the difference of two such counts
	row, err := scenarios.Find("crash-restart")
	if err != nil {
		t.Fatal(err)
	}
	found := map[bool]int{}
	for _, blind := range []bool{true, false} {
		for seed := range uint64(tries) {
			h, err := subjects[4].hunt(fixed{row}, 1+seed, blind)
			if err != nil {
				t.Fatal(err)
			}
			if chase(t, h, most).Found {
				found[blind]++
			}
		}
	}
	t.Logf("of %d hunts %d blind and %d guided ones found it", tries, found[true], found[false])
	if found[false]+chance < found[true] {
		t.Errorf("of %d hunts %d guided ones found it within %d runs, and %d blind ones", tries, found[false], most, found[true])
	}
}
