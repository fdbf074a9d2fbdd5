package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// explain tells why the sections of the resource's segment have no order, what let them
// come to that, and where it was.
func (j *effect) explain(r *resource) (string, Place) {
	g := &r.register
	unknown := g.unknown.all()
	value, readers := imbalance(g.value(), g.segment, unknown)
	culprits, where := append(slices.Clone(g.segment), unknown...), placeOf(r.name, g.segment)
	if len(readers) > 1 {
		slices.SortStableFunc(readers, func(a, b *section) int { return cmp.Compare(a.readAt, b.readAt) })
		culprits, where = readers[:2], placeOf(r.name, readers[:2])
	}
	return g.tell(r.name, value, readers) + j.clause(r, culprits), where
}

// placeOf is where sections of a resource were; of those that never returned, their calls.
func placeOf(resource string, sections []*section) Place {
	p := Place{Resource: resource, From: forever}
	for _, s := range sections {
		p.From, p.To = min(p.From, s.call), max(p.To, s.call, s.ret)
	}
	return p
}

func (g *register) tell(name string, value int64, readers []*section) string {
	switch {
	case len(readers) > 1:
		return fmt.Sprintf("lost update on %q: %s; %s", name, readers[0].tell(), readers[1].tell())
	case len(readers) == 1:
		return fmt.Sprintf("on %q, %s, but %d was not the value at any time then: %s", name, readers[0].tell(), value, g.before(readers[0]))
	}
	return g.explainByOrder(name)
}

// before tells which value there was.
func (g *register) before(s *section) string {
	for i := len(g.segment) - 1; i >= 0; i-- {
		if b := g.segment[i]; b.ret < s.call {
			return b.tell() + " before it"
		}
	}
	return fmt.Sprintf("it was %d before", g.value())
}

// explainByOrder is for sections that find values enough, but in no order.
func (g *register) explainByOrder(name string) string {
	const most = 4
	var told []string
	for _, s := range g.segment[:min(most, len(g.segment))] {
		told = append(told, s.tell())
	}
	if more := len(g.segment) - most; more > 0 {
		told = append(told, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("no order of these sections of %q, from the value %d on, explains what they read: %s", name, g.value(), strings.Join(told, "; "))
}

func (s *section) tell() string {
	who := fmt.Sprintf("client %d (token %s)", s.client, short(s.token))
	arrived := ""
	if s.arrived.Sub(s.writeAt) > noticeable {
		arrived = fmt.Sprintf(", which arrived at %s", at(s.arrived))
	}
	if s.blind {
		return fmt.Sprintf("%s wrote %d at %s%s", who, s.wrote, at(s.writeAt), arrived)
	}
	return fmt.Sprintf("%s read %d at %s and wrote %d at %s%s", who, s.read, at(s.readAt), s.wrote, at(s.writeAt), arrived)
}
