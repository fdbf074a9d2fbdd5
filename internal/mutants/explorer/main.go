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

// worlds lists the rows of the debate, and the trials of the comparison, whose lock is of a kind.
func worlds(lock string) (all []scenarios.Scenario) {
	for _, s := range scenarios.All() {
		if s.Lock.Kind == lock {
			all = append(all, s)
		}
	}
	for _, trial := range scenarios.Trials() {
		for _, c := range scenarios.Contenders() {
			if s := trial.Enter(c); s.Lock.Kind == lock && s.Generate == nil {
				all = append(all, s)
			}
		}
	}
	return all
}

// exploreAll explores the smallest world of each, and returns what they violate, in their order.
func exploreAll(ctx context.Context, lock string) (mutants.Explored, error) {
	began := time.Now()
	var found mutants.Explored
	for _, s := range worlds(lock) {
		small, err := explore.Smallest(ctx, s)
		if err != nil {
			return found, fmt.Errorf("%s: %w", s.Name, err)
		}
		b := explore.Bounds{Latencies: explore.DefaultLatencies, Draws: explore.DefaultDraws, Deviations: explore.DefaultDeviations, Faults: len(s.Plan)}
		o, err := explore.Explore(ctx, small, b, explore.Limits{Events: mostEvents, Workers: runtime.GOMAXPROCS(0)}, checker.Properties(), nil)
		if err != nil {
			return found, fmt.Errorf("%s: %w", s.Name, err)
		}
		found.Worlds++
		found.Runs += o.Executions + o.Cut
		for _, j := range o.Judged {
			if j.Find != nil {
				found.Finds = append(found.Finds, mutants.ExploredFind{
					World: s.Name, Property: j.Property, Events: j.Find.Events, Faults: j.Find.Faults, Runs: found.Runs,
				})
			}
		}
	}
	found.Seconds = time.Since(began).Seconds()
	return found, nil
}
