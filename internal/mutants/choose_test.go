package mutants

import (
	"hash/fnv"
	"math/rand/v2"
)

// choose returns n of the mutants, or all if there are fewer, which follow from a text:
// the commit, say, so that in time all get their turn.
func choose(all []Mutant, n int, by string) []Mutant {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(by))
	random := rand.New(rand.NewPCG(hash.Sum64(), 0))
	var chosen []Mutant
	for _, i := range random.Perm(len(all))[:min(n, len(all))] {
		chosen = append(chosen, all[i])
	}
	return chosen
}
