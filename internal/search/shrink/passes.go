package shrink

import (
	"context"

	"github.com/lockstorm/lockstorm/scenarios"
)

// Shrink makes a scenario smaller until no pass makes it smaller. The scenario must be valid,
// and have a plan and no generator. If it does not show anything in the first place, it is
// returned unchanged. If ctx ends or Shows fails, Shrink returns the smallest so far with that
// error. If the events are used up, it returns it without an error.
func (h Shrinker) Shrink(ctx context.Context, s scenarios.Scenario, seed uint64, shows Shows) (Reduced, error) {
	k := &reduction{Shrinker: h, ctx: ctx, shows: shows, best: s, size: SizeOf(s), seeds: []uint64{seed}}
	k.disjoint = disjoint(s)
	if !k.runShows(s, seed) {
		return k.result(), k.err
	}
	k.updateSeeds()
	k.repeatPasses()
	if !k.PlanOnly && len(k.seeds) > 1 {
		k.otherSeeds = true
		k.repeatPasses()
	}
	return k.result(), k.err
}

// repeatPasses makes the passes until none of them helps.
func (k *reduction) repeatPasses() {
	for before := (Size{}); before != k.size && !k.exhausted(); {
		before = k.size
		for _, pass := range k.passes() {
			pass(k)
			k.updateSeeds()
		}
	}
}

// passes returns the passes of the reduction.
func (k *reduction) passes() []func(*reduction) {
	if k.PlanOnly {
		return []func(*reduction){fewerFaults}
	}
	return passes
}

// passes are repeated in this order until none of them helps. The first save the most.
var passes = []func(*reduction){
	fewerFaults,
	fewerClients,
	fewerNodes,
	cutsInstead,
	fewerRounds,
	simplifyKinds,
	simplifyTriggers,
	simplifyValues,
	swapNumbers,
}
