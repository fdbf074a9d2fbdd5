// Command hunter searches for broken promises of one lock, in the search space of its kind,
// and writes a [mutants.Report] as JSON. The package mutants builds it with a defect
// planted into the lock, which the hunter does not know.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/evidence/mutants"
	"github.com/lockstorm/lockstorm/internal/conform/watch"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/search/hunt"
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

// faultWeights are the weights of the faults. Those that the debate is about, stopped clients and
// late messages, are more frequent.
var faultWeights = nemesis.Weights{nemesis.AllKinds: 1, "pause": 4, "latency": 2, "partition": 2}

// maxFaults is the largest number of faults of a plan: enough for two of them to coincide with what
// hides them.
const maxFaults = 6

// run hunts until a named property is violated, the runs are made or the input is closed.
func run(input io.Reader) (r mutants.Report, err error) {
	var task mutants.Task
	if err := json.NewDecoder(input).Decode(&task); err != nil {
		return r, fmt.Errorf("read the task: %w", err)
	}
	space, err := hunt.SpaceOfLock(task.Lock)
	if err != nil {
		return r, err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { // the sender has ended when our input ends
		_, _ = io.Copy(io.Discard, input)
		stop()
	}()
	began := time.Now()
	if task.Conform {
		r.Conform = new(watch.Tally)
		err = r.Conform.Hunt(ctx, 0, task.Runs)
		r.Seconds = time.Since(began).Seconds()
		return r, err
	}
	var seen hunt.Results
	h := hunt.Hunt{
		Backend: simulated.Backend(), Space: space, Terms: promises.Of,
		Faults: faultWeights, MaxFaults: maxFaults, Seed: 1, Runs: task.Runs,
	}
	if task.Aimed {
		h.Wanted = task.Named
	}
	h.Each = func(s hunt.Run) bool {
		found := false
		for _, p := range seen.Add(s) {
			r.Finds = append(r.Finds, hunt.Find{
				Property: p, Run: s.Number, Seconds: time.Since(began).Seconds(), Story: s.Result.Report.Finding(p).Story(),
			})
			found = found || slices.Contains(task.Named, p)
		}
		return !found
	}
	err = h.Run(ctx)
	r.Counts, r.Seconds = seen.Counts, time.Since(began).Seconds()
	return r, err
}
