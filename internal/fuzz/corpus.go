package fuzz

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
)

// corpus holds the candidates to mutate: the closest by each measure, and the latest that
// broke a property while others are wanted too, since a run that breaks one promise may break
// another.
type corpus struct {
	hunt   Hunt
	close  [measures][]*corpusEntry
	broken []*brokenGroup
	guides []measure // the measures of wanted properties
	latest *trial    // the last that was added
}

// brokenGroup are the latest that broke exactly the same properties. So rare violations are
// mutated as often as frequent ones.
type brokenGroup struct {
	broken  []checker.Property
	entries []*corpusEntry
}

// corpusEntry is a candidate of the corpus.
type corpusEntry struct {
	Candidate
	run      int            // its number; 0: another hunt has given it
	kinds    []nemesis.Kind // of its faults
	distance int64          // by the measure for which it is in the corpus
	children int            // number of mutations made
}

// Newly drawn plans are aimed and find the most, and soon. Mutations come later, when they
// have not. Where no measure leads to the violation mutations are wasted, so they are at most
// a quarter of the runs (docs/evidence/hunt.md).
const (
	firstMutation = 300 // runs before this one are newly drawn
	freshPercent  = 75  // of the later runs are newly drawn
	perMeasure    = 4   // candidates for a measure, each with different kinds of faults
	perGroup      = 8   // candidates that broke the same properties; half of the mutations are of such candidates
	maxChildren   = 40  // mutations of a candidate until it is dropped
)

func newCorpus(h Hunt) *corpus {
	p := &corpus{hunt: h}
	for m, g := range measureInfo {
		if slices.ContainsFunc(g.to, h.wants) {
			p.guides = append(p.guides, measure(m))
		}
	}
	return p
}

// next returns the trial with a number.
func (p *corpus) next(number int) *trial {
	t := &trial{run: Run{Number: number}}
	if p.hunt.Guidance == Priorities && p.latest != nil {
		t.again = p.latest.run.withPriorities(p.hunt.Depth)
	}
	if !p.hunt.Guidance.full() || number <= firstMutation {
		return t
	}
	random := rand.New(nemesis.Stream(p.hunt.Seed, fmt.Sprintf("guide %d", number)))
	if random.IntN(100) < freshPercent {
		return t
	}
	if k := p.choose(random); k != nil {
		t.parent = &k.Candidate
	}
	return t
}

// choose returns an entry to mutate, or nil.
func (p *corpus) choose(random *rand.Rand) *corpusEntry {
	var lists []*[]*corpusEntry
	for _, m := range p.guides {
		if len(p.close[m]) > 0 {
			lists = append(lists, &p.close[m])
		}
	}
	if broken := p.brokenLists(); len(broken) > 0 && (len(lists) == 0 || random.IntN(2) == 0) {
		lists = broken
	}
	if len(lists) == 0 {
		return nil
	}
	list := lists[random.IntN(len(lists))]
	i := min(random.IntN(len(*list)), random.IntN(len(*list))) // the closest come first
	k := (*list)[i]
	if k.children++; k.children >= maxChildren {
		*list = slices.Delete(*list, i, i+1)
	}
	return k
}

// brokenLists returns the lists of candidates that broke something.
func (p *corpus) brokenLists() (lists []*[]*corpusEntry) {
	for _, b := range p.broken {
		if len(b.entries) > 0 {
			lists = append(lists, &b.entries)
		}
	}
	return lists
}

// add adds a candidate that came close. One that broke all that is wanted is not added.
func (p *corpus) add(t *trial) {
	p.latest = t
	if t.fitness == nil {
		return
	}
	c := corpusEntry{Candidate: t.run.Candidate, run: t.run.Number, kinds: t.run.Scenario.Plan.Kinds()}
	if t.given {
		c.run = 0
	}
	if broken := t.run.Broken; len(broken) > 0 {
		if p.hunt.wantsMore(broken) {
			p.addBroken(broken, &c)
		}
		return
	}
	for _, m := range p.guides {
		if d := t.fitness.distance(m); d < unmeasured {
			near := c
			near.distance = d
			p.close[m] = rank(p.close[m], &near)
		}
	}
}

// addBroken adds a candidate that broke properties.
func (p *corpus) addBroken(broken []checker.Property, k *corpusEntry) {
	i := slices.IndexFunc(p.broken, func(b *brokenGroup) bool { return slices.Equal(b.broken, broken) })
	if i < 0 {
		i = len(p.broken)
		p.broken = append(p.broken, &brokenGroup{broken: broken})
	}
	b := p.broken[i]
	b.entries = append(b.entries, k)
	b.entries = b.entries[max(0, len(b.entries)-perGroup):]
}

// rank inserts a candidate into the closest ones if it belongs there: in place of one with the
// same kinds of faults, or of the last. Of two equally close ones the later stays, so that a
// hunt moves on where nothing comes closer.
func rank(list []*corpusEntry, k *corpusEntry) []*corpusEntry {
	if i := slices.IndexFunc(list, func(l *corpusEntry) bool { return slices.Equal(l.kinds, k.kinds) }); i >= 0 {
		if list[i].distance < k.distance {
			return list
		}
		list = slices.Delete(list, i, i+1)
	}
	i, _ := slices.BinarySearchFunc(list, k, func(l, k *corpusEntry) int {
		if l.distance < k.distance {
			return -1
		}
		return 1
	})
	list = slices.Insert(list, i, k)
	return list[:min(len(list), perMeasure)]
}

// offers returns what the corpus has of the hunt's own: by each measure the closest, then those that
// broke something. What was mutated in vain until it was dropped is not offered, and what others
// have given is known to them.
func (p *corpus) offers() (list []Entry) {
	offer := func(k *corpusEntry, e Entry) {
		if k.run == 0 {
			return
		}
		e.Run, e.Candidate = k.run, k.Candidate
		list = append(list, e)
	}
	for _, m := range p.guides {
		for _, k := range p.close[m] {
			offer(k, Entry{Measure: measureInfo[m].name, Distance: k.distance})
		}
	}
	for _, b := range p.broken {
		for _, k := range b.entries {
			offer(k, Entry{Broken: b.broken})
		}
	}
	return list
}
