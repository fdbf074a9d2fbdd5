package sim

import (
	"fmt"
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/nemesis"
)

// stream is [nemesis.Stream]. The stream "plan" is not for a world: the faults
// of a generated plan were drawn from it.
func stream(seed uint64, name string) *rand.PCG { return nemesis.Stream(seed, name) }

// faultStream is the stream of a fault's own, so that it draws the same
// whatever other kinds of faults a plan has. number is its place in the plan,
// from 1.
func (w *World) faultStream(number int) *rand.PCG {
	kind, nth := w.setting.Plan[number-1].Action.Kind(), 0
	for i := range number {
		if w.setting.Plan[i].Action.Kind() == kind {
			nth++
		}
	}
	return stream(w.seed, fmt.Sprintf("fault %s %d", kind, nth))
}
