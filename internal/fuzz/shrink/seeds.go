package shrink

import (
	"slices"

	"github.com/lockstorm/lockstorm/scenarios"
)

// few is how many seeds, from 1 on, a scenario should show the same with. One that
// does so with all of them does not hang by the chance of a delay.
const few = 5

// settle looks with which of the first seeds the scenario shows the same by now. What
// has once been reached is kept: each further scenario has to show it with all of
// them. A seed that was drawn goes as soon as there is a small one.
func (k *shrinking) settle() {
	for seed := uint64(1); seed <= few; seed++ {
		if !slices.Contains(k.seeds, seed) && k.shown(k.best, seed) {
			k.seeds = append(k.seeds, seed)
		}
	}
	if !k.KeepSeed && len(k.seeds) > 1 && k.seeds[0] > few {
		k.seeds = k.seeds[1:]
	}
	if !k.KeepSeed {
		slices.Sort(k.seeds)
	}
}

// showing returns the seeds with which a scenario shows the same as the best does: all
// of those. What has one seed alone hangs by chance already, and with a client less all
// chances are others: then another of the first seeds does as well.
func (k *shrinking) showing(s scenarios.Scenario) (seeds []uint64, shows bool) {
	failed := slices.ContainsFunc(k.seeds, func(seed uint64) bool { return !k.shown(s, seed) })
	if !failed {
		return k.seeds, true
	}
	if k.KeepSeed || len(k.seeds) > 1 {
		return nil, false
	}
	for seed := uint64(1); seed <= few; seed++ {
		if seed != k.seeds[0] && k.shown(s, seed) {
			return []uint64{seed}, true
		}
	}
	return nil, false
}
