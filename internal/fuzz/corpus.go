package fuzz

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
)

// pool keeps the candidates that a hunt goes on from: those that came closest by each
// measure, and the last that broke a property while others were wanted too: what breaks
// one promise may break another.
type pool struct {
	hunt   Hunt
	close  [measures][]*kept
	broken []*breakers
	guides []measure // that matter to what is wanted
}

// breakers are the last that broke the same properties and no other: so what seldom breaks
// is gone by as often as what breaks all the time.
type breakers struct {
	broken []checker.Property
	kept   []*kept
}

// kept is a candidate of the pool.
type kept struct {
	Candidate
	kinds    []nemesis.Kind // of its faults
	distance int64          // by the measure that it is kept for
	children int            // that have been made of it
}

// What is drawn is aimed: it finds the most by itself, and soon. Changes come when it has
// not, and where nothing leads step by step to what is looked for they are runs lost, so
// that a quarter is all that they may cost (docs/evidence/hunt.md).
const (
	soon      = 300 // is the run until which all are drawn anew
	freshness = 75  // of a hundred are from then on
	closest   = 4   // candidates are kept for a measure, each with other kinds of faults
	latest    = 8   // that broke the same; half of the changes are of what broke something
	fertile   = 40  // children of a candidate: one that has led nowhere till then is given up
)

func newPool(h Hunt) *pool {
	p := &pool{hunt: h}
	for m, g := range guides {
		if slices.ContainsFunc(g.to, h.wants) {
			p.guides = append(p.guides, measure(m))
		}
	}
	return p
}

// next returns the trial of a number.
func (p *pool) next(number int) *trial {
	t := &trial{shot: Run{Number: number}}
	if !p.hunt.Guidance.full() || number <= soon {
		return t
	}
	random := rand.New(nemesis.Stream(p.hunt.Seed, fmt.Sprintf("guide %d", number)))
	if random.IntN(100) < freshness {
		return t
	}
	if k := p.choose(random); k != nil {
		t.parent = &k.Candidate
	}
	return t
}

// choose returns one of those kept, nil if there is none.
func (p *pool) choose(random *rand.Rand) *kept {
	var lists []*[]*kept
	for _, m := range p.guides {
		if len(p.close[m]) > 0 {
			lists = append(lists, &p.close[m])
		}
	}
	if broken := p.breaking(); len(broken) > 0 && (len(lists) == 0 || random.IntN(2) == 0) {
		lists = broken
	}
	if len(lists) == 0 {
		return nil
	}
	list := lists[random.IntN(len(lists))]
	i := min(random.IntN(len(*list)), random.IntN(len(*list))) // the closest come first
	k := (*list)[i]
	if k.children++; k.children >= fertile {
		*list = slices.Delete(*list, i, i+1)
	}
	return k
}

// breaking returns the lists of what broke something.
func (p *pool) breaking() (lists []*[]*kept) {
	for _, b := range p.broken {
		if len(b.kept) > 0 {
			lists = append(lists, &b.kept)
		}
	}
	return lists
}

// learn takes a candidate in that came close. One that broke what is looked for is no
// more to be looked for, but for what else it may break.
func (p *pool) learn(t *trial) {
	if t.shown == nil {
		return
	}
	c := kept{Candidate: t.shot.Candidate, kinds: t.shot.Scenario.Plan.Kinds()}
	if broken := t.shot.Broken; len(broken) > 0 {
		if p.hunt.wantsMore(broken) {
			p.breaks(broken, &c)
		}
		return
	}
	for _, m := range p.guides {
		if d := t.shown.distance(m); d < far {
			near := c
			near.distance = d
			p.close[m] = rank(p.close[m], &near)
		}
	}
}

// breaks takes a candidate in that broke something.
func (p *pool) breaks(broken []checker.Property, k *kept) {
	i := slices.IndexFunc(p.broken, func(b *breakers) bool { return slices.Equal(b.broken, broken) })
	if i < 0 {
		i = len(p.broken)
		p.broken = append(p.broken, &breakers{broken: broken})
	}
	b := p.broken[i]
	b.kept = append(b.kept, k)
	b.kept = b.kept[max(0, len(b.kept)-latest):]
}

// rank puts a candidate among the closest if it is one: in the place of one that has the
// same kinds of faults, or else of the last. Of two as close the later stays, so that a
// hunt moves on where nothing comes closer.
func rank(list []*kept, k *kept) []*kept {
	if i := slices.IndexFunc(list, func(l *kept) bool { return slices.Equal(l.kinds, k.kinds) }); i >= 0 {
		if list[i].distance < k.distance {
			return list
		}
		list = slices.Delete(list, i, i+1)
	}
	i, _ := slices.BinarySearchFunc(list, k, func(l, k *kept) int {
		if l.distance < k.distance {
			return -1
		}
		return 1
	})
	list = slices.Insert(list, i, k)
	return list[:min(len(list), closest)]
}
