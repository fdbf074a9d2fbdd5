// Command hunter hunts one lock for breaches of what it promises, on the generic
// grounds, and writes a [mutants.Report] as JSON. "lockstorm mutants" builds it with a
// defect planted into the lock, of which it knows nothing.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/mutants"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
)

// gcPercent lets the collector run as seldom as it does in the command.
const gcPercent = 800

func main() {
	debug.SetGCPercent(gcPercent)
	report, err := sent(os.Stdin)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(report)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// sent hunts what the order asks for, as long as that is held out.
func sent(order io.Reader) (mutants.Report, error) {
	var q mutants.Quarry
	if err := json.NewDecoder(order).Decode(&q); err != nil {
		return mutants.Report{}, fmt.Errorf("want a quarry, as JSON: %w", err)
	}
	ctx, stop := context.WithTimeout(context.Background(), q.Budget)
	defer stop()
	go func() { // whoever sent us is gone when our input ends
		_, _ = io.Copy(io.Discard, order)
		stop()
	}()
	return hunted(ctx, q)
}

// hunted is what is found until it is one of the named properties, the runs have been
// made or ctx ends.
func hunted(ctx context.Context, q mutants.Quarry) (mutants.Report, error) {
	ground, err := fuzz.SpaceOfLock(q.Lock)
	if err != nil {
		return mutants.Report{}, err
	}
	b := bag{began: time.Now(), finds: []mutants.Find{}}
	var failed error
	err = fuzz.Hunt{
		Backend: simulated.Backend(), Space: ground, Terms: fuzz.PromisedTerms,
		Faults: usual, MaxFaults: most, Seed: q.Seed, Guidance: fuzz.Guidance(q.Guidance),
		Each: func(s fuzz.Run) bool {
			found, err := b.take(s, q.Named)
			failed = err
			return err == nil && !found && s.Number != q.Runs
		},
	}.Run(ctx)
	return mutants.Report{
		Ground: ground.Name(), Seed: q.Seed,
		Counts: b.Counts, Seconds: time.Since(b.began).Seconds(), Finds: b.finds,
	}, errors.Join(err, failed)
}

// usual are the weights of the faults: what the debate is about, clients that stand still
// and messages that are late, comes more often.
var usual = nemesis.Weights{nemesis.AllKinds: 1, "pause": 4, "latency": 2, "partition": 2}

// most is how many faults a plan has at most: enough that two of them, and what
// hides them, can fall together.
const most = 6

// bag is what has been found so far.
type bag struct {
	fuzz.Results
	began time.Time
	finds []mutants.Find
}

// take looks at one more run, and reports whether it is the first to break one of some
// properties.
func (b *bag) take(s fuzz.Run, named []checker.Property) (found bool, err error) {
	for _, p := range b.Add(s) {
		done, err := json.Marshal(s.Result.Done())
		if err != nil {
			return false, err
		}
		b.finds = append(b.finds, mutants.Find{
			Find: fuzz.Find{
				Property: p, Run: s.Number, Seconds: time.Since(b.began).Seconds(),
				Story: s.Result.Report.Finding(p).Story(),
			},
			Seed: s.Seed, Scenario: done,
		})
		found = found || slices.Contains(named, p)
	}
	return found, nil
}
