package sim

import (
	"hash/fnv"
	"math/rand/v2"
)

// stream returns the named source of randomness of a seed. Each purpose has a
// stream of its own, so that a draw added for one does not shift the others.
func stream(seed uint64, name string) *rand.PCG {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return rand.NewPCG(seed, h.Sum64())
}
