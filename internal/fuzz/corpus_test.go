package fuzz

import (
	"math/rand/v2"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
)

// breaking returns a trial that broke some properties.
func breaking(number int, broken ...checker.Property) *trial {
	return &trial{run: Run{Number: number, Candidate: Candidate{Seed: uint64(number)}, Broken: broken}, fitness: &fitness{}}
}

// Rare violations are mutated as often as frequent ones.
func TestRareViolationsAreMutated(t *testing.T) {
	p := newCorpus(Hunt{Wanted: []checker.Property{checker.Cleanup, checker.Contract, checker.DeadlockFreedom}})
	p.add(breaking(1, checker.Cleanup))
	for n := range 1000 {
		p.add(breaking(2+n, checker.Contract))
	}
	random := rand.New(rand.NewPCG(1, 1))
	of := map[bool]int{}
	for range maxChildren {
		of[p.choose(random).Seed == 1]++
	}
	if of[true] < maxChildren/4 || of[false] < maxChildren/4 {
		t.Errorf("the first is gone on from %d times of %d, a thousand others %d times", of[true], maxChildren, of[false])
	}
}

// An entry that leads nowhere is dropped, and one that broke all wanted properties is not
// kept.
func TestEntriesAreDropped(t *testing.T) {
	p := newCorpus(Hunt{Wanted: []checker.Property{checker.Cleanup, checker.Contract}})
	p.add(breaking(1, checker.Cleanup))
	p.add(breaking(2, checker.Cleanup, checker.Contract))
	random := rand.New(rand.NewPCG(1, 1))
	for range maxChildren {
		if k := p.choose(random); k == nil || k.Seed != 1 {
			t.Fatalf("gone on from %+v", k)
		}
	}
	if k := p.choose(random); k != nil {
		t.Errorf("after %d children there is still %+v", maxChildren, k)
	}
}

// The closest come first, one for each set of kinds of faults. Of two equally close ones the
// later stays.
func TestTheClosestAreKept(t *testing.T) {
	var list []*corpusEntry
	for n, d := range []int64{5, 9, 7, 5, 3, 8, 6, 5} {
		kind := []nemesis.Kind{"crash", "pause"}[n%2]
		list = rank(list, &corpusEntry{Candidate: Candidate{Seed: uint64(n)}, kinds: []nemesis.Kind{kind}, distance: d})
	}
	if len(list) != 2 || list[0].Seed != 4 || list[1].Seed != 7 {
		t.Errorf("%d are kept: %+v", len(list), list)
	}
}
