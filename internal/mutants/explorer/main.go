// Command explorer explores the worlds of one lock, and writes what they violate as JSON. It is built
// with a defect planted into the lock, which it does not know: see package mutants.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/explore"
	"github.com/lockstorm/lockstorm/internal/mutants"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// gcPercent is the setting of the command.
const gcPercent = 800

// mostEvents is the number of events in the runs with one choice of faults.
const mostEvents = 150_000

func main() {
	debug.SetGCPercent(gcPercent)
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: explorer LOCK")
		os.Exit(2)
	}
	found, err := exploreAll(context.Background(), os.Args[1])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(found)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// world is a scenario to explore, with at most one fault of the kind added beside those of its plan; "":
// none.
type world struct {
	scenarios.Scenario
	added nemesis.Kind
}

// worlds lists the worlds of a kind of lock: the rows of the debate, the trials of the comparison, and the
// trial without faults with any one fault of each kind.
func worlds(lock string) (all []world) {
	add := func(s scenarios.Scenario, added nemesis.Kind) {
		if s.Lock.Kind == lock && s.Generate == nil {
			all = append(all, world{s, added})
		}
	}
	for _, s := range scenarios.All() {
		add(s, "")
	}
	for _, trial := range scenarios.Trials() {
		for _, c := range scenarios.Contenders() {
			add(trial.Enter(c), "")
		}
	}
	for _, c := range scenarios.Contenders() {
		for _, kind := range nemesis.FewKinds() {
			add(scenarios.Trials()[0].Enter(c), kind)
		}
	}
	return all
}

// name names the world in a table.
func (w world) name() string {
	if w.added == "" {
		return w.Name
	}
	return w.Name + " and any " + string(w.added)
}

// bounds returns the bounds of the exploration. Added faults are many, so nothing else deviates.
func (w world) bounds() explore.Bounds {
	b := explore.Bounds{Latencies: explore.DefaultLatencies, Draws: explore.DefaultDraws, Deviations: explore.DefaultDeviations, Faults: len(w.Plan)}
	if w.added != "" {
		b.Deviations, b.Kinds, b.Added = 0, []nemesis.Kind{w.added}, 1
	}
	return b
}

// explore explores the smallest world that asks the same.
func (w world) explore(ctx context.Context) (explore.Outcome, error) {
	part, err := explore.Smallest(ctx, w.Scenario)
	if err != nil {
		return explore.Outcome{}, err
	}
	small, err := part.Of(w.Scenario)
	if err != nil {
		return explore.Outcome{}, err
	}
	limits := explore.Limits{Events: mostEvents, Workers: runtime.GOMAXPROCS(0)}
	return explore.Explore(ctx, small, w.bounds(), limits, checker.Properties(), nil)
}

// exploreAll explores the worlds of a kind of lock, and returns what they violate, in their order.
func exploreAll(ctx context.Context, lock string) (mutants.Explored, error) {
	began := time.Now()
	var found mutants.Explored
	for _, w := range worlds(lock) {
		o, err := w.explore(ctx)
		if err != nil {
			return found, fmt.Errorf("%s: %w", w.name(), err)
		}
		found.Worlds++
		found.Runs += o.Executions + o.Cut
		for _, j := range o.Judged {
			if j.Find != nil {
				found.Finds = append(found.Finds, mutants.ExploredFind{
					World: w.name(), Property: j.Property, Events: j.Find.Events, Faults: j.Find.Faults, Runs: found.Runs,
				})
			}
		}
	}
	found.Seconds = time.Since(began).Seconds()
	return found, nil
}
