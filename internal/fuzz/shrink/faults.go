package shrink

import (
	"slices"

	"github.com/lockstorm/lockstorm/nemesis"
)

// fewerFaults leaves out faults, by delta debugging (Zeller and Hildebrandt, 2002):
// large parts of the plan first, then smaller ones, down to single faults.
func fewerFaults(k *shrinking) {
	for size := len(k.best.Plan); size > 0; size /= 2 {
		for i := 0; i < len(k.best.Plan); {
			if !k.withoutFaults(i, min(i+size, len(k.best.Plan))) {
				i += size
			}
		}
	}
}

// withoutFaults tries to do without the faults from one place to another. What only
// made one client come before another is not needed if they change places.
func (k *shrinking) withoutFaults(from, to int) bool {
	s := k.best
	s.Plan = slices.Delete(slices.Clone(s.Plan), from, to)
	if k.try(s) {
		return true
	}
	for order := range k.going(swaps(len(s.Clients))) {
		if k.try(onlyClients(s, order)) {
			return true
		}
	}
	return false
}

// withFault tries another fault in a place of the plan.
func (k *shrinking) withFault(i int, f nemesis.Fault) bool {
	s := k.best
	s.Plan = slices.Clone(s.Plan)
	s.Plan[i] = f
	return k.try(s)
}
