package shards

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/nemesis"
)

// The bounds of a pool and of what is drawn from it.
const (
	perGroup = 16 // entries that reach the same, each with different kinds of faults
	perDraw  = 4  // of them that a shard draws, as many as a hunt keeps by one measure
	mostDraw = 32 // entries that a shard draws; each costs it a run
)

// Pool keeps the entries that shards offer: for each key the closest, and of each group those that
// are closest. What it keeps does not depend on the order in which entries are added. The zero value
// is empty. A pool must not be used by two goroutines at a time.
type Pool struct {
	groups map[string][]fuzz.Entry // by [fuzz.Entry.Group], in the order of [fuzz.Entry.Compare]
}

// Add adds valid entries.
func (p *Pool) Add(entries ...fuzz.Entry) {
	if p.groups == nil {
		p.groups = map[string][]fuzz.Entry{}
	}
	for _, e := range entries {
		p.groups[e.Group()] = insert(p.groups[e.Group()], e)
	}
}

// insert adds an entry to those of its group, unless others are better.
func insert(group []fuzz.Entry, e fuzz.Entry) []fuzz.Entry {
	if i := slices.IndexFunc(group, func(g fuzz.Entry) bool { return g.Key() == e.Key() }); i >= 0 {
		if group[i].Compare(e) <= 0 {
			return group
		}
		group = slices.Delete(group, i, i+1)
	}
	i, _ := slices.BinarySearchFunc(group, e, fuzz.Entry.Compare)
	group = slices.Insert(group, i, e)
	return group[:min(len(group), perGroup)]
}

// Entries returns all entries, by group.
func (p *Pool) Entries() (all []fuzz.Entry) {
	for _, g := range slices.Sorted(maps.Keys(p.groups)) {
		all = append(all, p.groups[g]...)
	}
	return all
}

// Draw draws the entries with which a shard of a hunt with a seed begins: some of each group, none of
// the shard's own, no run twice. It depends on the seed, the shard and what is in the pool.
func (p *Pool) Draw(d Division, shard int) (drawn []fuzz.Entry) {
	random := rand.New(nemesis.Stream(d.Hunt.Seed, fmt.Sprintf("draw %d", shard)))
	names := slices.Sorted(maps.Keys(p.groups))
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	seen := map[int]bool{}
	for _, name := range names {
		n := 0
		for _, i := range random.Perm(len(p.groups[name])) {
			e := p.groups[name][i]
			if len(drawn) == mostDraw || n == perDraw {
				break
			}
			if n++; !seen[e.Run] && d.shardOf(e.Run) != shard {
				seen[e.Run] = true
				drawn = append(drawn, e)
			}
		}
	}
	return drawn
}
