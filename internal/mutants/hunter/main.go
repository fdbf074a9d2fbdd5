// Command hunter hunts one lock for breaches of what it promises, on the generic
// grounds, and writes a [mutants.Report] as JSON. "lockstorm mutants" builds it with a
// defect planted into the lock, of which it knows nothing.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/hunt"
	"github.com/lockstorm/lockstorm/hunt/assume"
	"github.com/lockstorm/lockstorm/internal/mutants"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/storm/simulated"
)

// gcPercent lets the collector run as seldom as it does in the command.
const gcPercent = 800

func main() {
	debug.SetGCPercent(gcPercent)
	var q quarry
	flag.StringVar(&q.lock, "lock", "redlock", "kind of the lock")
	flag.Uint64Var(&q.seed, "seed", 1, "seed of the hunt")
	flag.DurationVar(&q.budget, "budget", 30*time.Second, "of time")
	flag.IntVar(&q.runs, "runs", 0, "runs at most; 0: no limit")
	flag.BoolVar(&q.blind, "blind", false, "draw every run anew")
	named := flag.String("named", "", "properties, by name, of which one ends the hunt")
	flag.Parse()
	for name := range strings.SplitSeq(*named, ",") {
		if name != "" {
			q.named = append(q.named, checker.Property(name))
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() { // whoever sent us is gone when our input ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	report, err := q.hunt(ctx)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(report)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// quarry is what is hunted.
type quarry struct {
	lock   string
	seed   uint64
	budget time.Duration
	runs   int
	blind  bool
	named  []checker.Property
}

// hunt hunts until one of the named properties is found, or the budget of time or of
// runs has been spent.
func (q quarry) hunt(ctx context.Context) (mutants.Report, error) {
	ground, err := hunt.OfLock(q.lock)
	if err != nil {
		return mutants.Report{}, err
	}
	ctx, stop := context.WithTimeout(ctx, q.budget)
	defer stop()
	b := bag{began: time.Now(), named: q.named}
	err = hunt.Hunt{
		Backend: simulated.Backend(), Ground: ground, Terms: assume.Promised,
		Faults: usual, Most: most, Seed: q.seed, Blind: q.blind,
		Each: func(s hunt.Shot) bool {
			b.take(s)
			return b.found == nil && s.Number != q.runs
		},
	}.Run(ctx)
	if b.err != nil {
		err = b.err
	}
	return b.report(), err
}

// usual are the weights of the faults: what the debate is about, clients that stand still
// and messages that are late, comes more often.
var usual = nemesis.Weights{nemesis.AllKinds: 1, "pause": 4, "latency": 2, "partition": 2}

// most is how many faults a plan has at most: enough that two of them, and what
// hides them, can fall together.
const most = 6
