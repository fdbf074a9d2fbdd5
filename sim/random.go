package sim

import (
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/nemesis"
)

// stream is [nemesis.Stream]. The stream "plan" is not for a world: the faults
// of a generated plan were drawn from it.
func stream(seed uint64, name string) *rand.PCG { return nemesis.Stream(seed, name) }
