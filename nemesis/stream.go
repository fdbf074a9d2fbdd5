package nemesis

import (
	"hash/fnv"
	"math/rand/v2"
)

// Stream returns the named source of randomness of a seed. Each purpose has a
// stream of its own, so that a draw added for one does not shift the others.
// Plans are drawn from [PlanStream].
func Stream(seed uint64, name string) *rand.PCG {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return rand.NewPCG(seed, h.Sum64())
}

// PlanStream names the stream that the faults of a generated plan are drawn
// from.
const PlanStream = "plan"
