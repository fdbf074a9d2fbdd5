// Command hunter searches for broken promises of one lock, in the search space of its kind,
// and writes a [mutants.Report] as JSON. The package mutants builds it with a defect
// planted into the lock, which the hunter does not know.
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
	"github.com/lockstorm/lockstorm/evidence/mutants"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
)

// gcPercent is the setting of the command.
const gcPercent = 800

func main() {
	debug.SetGCPercent(gcPercent)
	report, err := run(os.Stdin)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(report)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run hunts as ordered until the order's input is closed.
func run(order io.Reader) (mutants.Report, error) {
	var q mutants.Task
	if err := json.NewDecoder(order).Decode(&q); err != nil {
		return mutants.Report{}, fmt.Errorf("read the task: %w", err)
	}
	ctx, stop := context.WithTimeout(context.Background(), q.Budget)
	defer stop()
	go func() { // the sender has ended when our input ends
		_, _ = io.Copy(io.Discard, order)
		stop()
	}()
	return hunt(ctx, q)
}

// hunt hunts until a named property is violated, the runs are made or ctx ends.
func hunt(ctx context.Context, q mutants.Task) (mutants.Report, error) {
	ground, err := fuzz.SpaceOfLock(q.Lock)
	if err != nil {
		return mutants.Report{}, err
	}
	b := collector{began: time.Now(), finds: []mutants.Find{}}
	h := fuzz.Hunt{
		Backend: simulated.Backend(), Space: ground, Terms: promises.Of,
		Faults: faultWeights, MaxFaults: maxFaults, Seed: q.Seed,
		Runs: q.Runs,
	}
	var failed error
	h.Each = func(s fuzz.Run) bool {
		found, err := b.add(s, q.Named)
		failed = err
		return err == nil && !found
	}
	err = errors.Join(h.Run(ctx), failed)
	return mutants.Report{
		Space: ground.Name(), Seed: q.Seed,
		Counts: b.Counts, Seconds: time.Since(b.began).Seconds(), Finds: b.finds,
	}, err
}

// faultWeights are the weights of the faults. Those that the debate is about, stopped clients and
// late messages, are more frequent.
var faultWeights = nemesis.Weights{nemesis.AllKinds: 1, "pause": 4, "latency": 2, "partition": 2}

// maxFaults is the largest number of faults of a plan: enough for two of them to coincide with what
// hides them.
const maxFaults = 6

// collector collects the results.
type collector struct {
	fuzz.Results
	began time.Time
	finds []mutants.Find
}

// add adds a run, and reports whether it is the first to violate one of the named properties.
func (b *collector) add(s fuzz.Run, named []checker.Property) (found bool, err error) {
	for _, p := range b.Add(s) {
		done, err := json.Marshal(s.Result.Executed())
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
