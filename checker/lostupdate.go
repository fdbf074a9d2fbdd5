package checker

import (
	"cmp"
	"slices"
)

// explain says why the sections of the resource's segment have no order, the cause, and
// where it was.
func (j *effect) explain(r *resource) Finding {
	g := &r.register
	unknown := g.unknown.all()
	value, readers := imbalance(g.value(), g.segment, unknown)
	culprits, where := append(slices.Clone(g.segment), unknown...), placeOf(r.name, g.segment)
	if len(readers) > 1 {
		slices.SortStableFunc(readers, func(a, b *section) int { return cmp.Compare(a.readAt, b.readAt) })
		culprits, where = readers[:2], placeOf(r.name, readers[:2])
	}
	return Finding{Events: g.tell(r.name, value, readers), Causes: j.causes(r, culprits), Where: &where}
}

// placeOf is the time of some sections, from the first call to the last return or call.
func placeOf(resource string, sections []*section) Place {
	p := Place{Resource: resource, From: forever}
	for _, s := range sections {
		p.From, p.To = min(p.From, s.call), max(p.To, s.call, s.ret)
	}
	return p
}

func (g *register) tell(name string, value int64, readers []*section) []Statement {
	switch {
	case len(readers) > 1:
		return []Statement{{Kind: LostUpdate, Resource: name}, readers[0].tell(), readers[1].tell()}
	case len(readers) == 1:
		stale := readers[0].tell()
		stale.Detail = "stale"
		return []Statement{{Kind: StaleRead, Resource: name, Read: value}, stale, g.before(readers[0])}
	}
	return g.explainByOrder(name)
}

// before says which value the resource had before a section.
func (g *register) before(s *section) Statement {
	for i := len(g.segment) - 1; i >= 0; i-- {
		if b := g.segment[i]; b.ret < s.call {
			told := b.tell()
			told.Detail = "before"
			return told
		}
	}
	return Statement{Kind: ValueBefore, Read: g.value()}
}

// explainByOrder is for sections whose reads fit by number, but in no order.
func (g *register) explainByOrder(name string) []Statement {
	const most = 4
	told := []Statement{{Kind: NoOrder, Resource: name, Read: g.value()}}
	for _, s := range g.segment[:min(most, len(g.segment))] {
		told = append(told, s.tell())
	}
	if more := len(g.segment) - most; more > 0 {
		told = append(told, Statement{Kind: MoreSections, Count: more})
	}
	return told
}

func (s *section) tell() Statement {
	return Statement{
		Kind: Accessed, Client: s.client, Resource: s.resource.name, Token: s.token,
		More: s.blind, Read: s.read, From: s.readAt, Wrote: s.wrote, At: s.writeAt, To: s.arrived,
	}
}
