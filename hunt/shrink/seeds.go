package shrink

import "slices"

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
