package sim

import (
	"hash/fnv"
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/nemesis"
)

// stream returns the named source of randomness of a seed. Each purpose has a
// stream of its own, so that a draw added for one does not shift the others.
func stream(seed uint64, name string) *rand.PCG {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return rand.NewPCG(seed, h.Sum64())
}

// draw returns a duration of the range in nanoseconds, from integers alone.
func draw(r *rand.PCG, d nemesis.Range) int64 {
	width := uint64(d.Max - d.Min)
	if width == 0 {
		return int64(d.Min)
	}
	return int64(d.Min) + int64(r.Uint64()%(width+1))
}
