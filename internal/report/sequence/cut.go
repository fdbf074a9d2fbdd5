package sequence

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// MostMessages is how many messages a diagram shows, about: more than one can follow.
const MostMessages = 200

// stretch is a part of a run, by the orders of its first and its last point.
type stretch struct{ from, to int }

func (s stretch) has(order int) bool { return order >= s.from && order <= s.to }

// around returns the part of the diagram that its finding is about, if it has more
// messages than that.
func (d Diagram) around(most int) Diagram {
	if len(d.Messages) <= most {
		return d
	}
	return d.keep(d.stretches(most))
}

// stretches chooses what is kept: as many messages around each place to look at.
func (d Diagram) stretches(most int) (all []stretch) {
	places := d.places()
	share := most / len(places)
	for _, at := range places {
		i, _ := slices.BinarySearchFunc(d.Messages, at, func(m Message, at int) int { return m.order() - at })
		from := max(0, min(i-share*2/3, len(d.Messages)-share))
		to := from + share - 1
		s := d.whole(stretch{min(at, d.Messages[from].order()), max(at, d.Messages[to].order())})
		if from == 0 {
			s.from = -1
		}
		if to == len(d.Messages)-1 {
			s.to = d.last()
		}
		all = append(all, s)
	}
	return join(all)
}

// whole widens a stretch to whole instants.
func (d Diagram) whole(s stretch) stretch {
	first, last := d.at(s.from), d.at(s.to)
	for _, l := range d.Lines {
		if l.At.At >= first && l.At.At <= last {
			s.from, s.to = min(s.from, l.At.Order), max(s.to, l.At.Order+1)
		}
	}
	return s
}

// at is the time of what has an order.
func (d Diagram) at(order int) (at history.Time) {
	for _, l := range d.Lines {
		if l.At.Order <= order {
			at = l.At.At
		}
	}
	return at
}

// last is behind all that was heard.
func (d Diagram) last() (order int) {
	for _, l := range d.Lines {
		order = max(order, l.At.Order+1)
	}
	return order
}

// places are where to look, by the order: the begins of both holds and the end of their
// overlap, or else where the finding says.
func (d Diagram) places() []int {
	at := func(t history.Time) int {
		i, _ := slices.BinarySearchFunc(d.Lines, t, func(l Line, t history.Time) int { return cmp.Compare(l.At.At, t) })
		if i == len(d.Lines) {
			return d.last()
		}
		return d.Lines[i].At.Order
	}
	f := d.Finding
	switch {
	case d.Overlap != nil:
		return []int{at(f.First.First.Granted), d.Overlap.From.Order, d.Overlap.To.Order}
	case f.Where != nil:
		return []int{at(f.Where.From), at(f.Where.To)}
	}
	return []int{0}
}

// join makes one of stretches that touch.
func join(list []stretch) (all []stretch) {
	slices.SortFunc(list, func(a, b stretch) int { return a.from - b.from })
	for _, s := range list {
		if n := len(all); n > 0 && s.from <= all[n-1].to+1 {
			all[n-1].to = max(all[n-1].to, s.to)
			continue
		}
		all = append(all, s)
	}
	return all
}

// keep returns the diagram without what is in none of the stretches.
func (d Diagram) keep(list []stretch) Diagram {
	kept := func(order int) bool {
		return slices.ContainsFunc(list, func(s stretch) bool { return s.has(order) })
	}
	d.Cuts = d.cuts(list)
	d.Messages = slices.DeleteFunc(slices.Clone(d.Messages), func(m Message) bool { return !kept(m.order()) })
	for i := range d.Messages {
		d.Messages[i].forget(kept)
	}
	d.Events = slices.DeleteFunc(slices.Clone(d.Events), func(e Event) bool { return !kept(e.At.Order) })
	d.Spans = d.clipped(list)
	d.Lines = slices.DeleteFunc(slices.Clone(d.Lines), func(l Line) bool { return !kept(l.At.Order) })
	return d
}

// forget forgets the end of a message that is in a part that is left out.
func (m *Message) forget(kept func(order int) bool) {
	if m.SentKnown && !kept(m.Sent.Order) {
		m.Sent, m.SentKnown = m.Came, false
	}
	if m.CameKnown && !kept(m.Came.Order) {
		m.Came, m.CameKnown = m.Sent, false
	}
}

// cuts says what lies between the stretches, before the first and behind the last.
func (d Diagram) cuts(list []stretch) (all []Cut) {
	after := -1
	for _, s := range append(slices.Clone(list), stretch{d.last() + 1, d.last() + 1}) {
		if c := d.between(after, s.from); c.Messages+c.Events > 0 {
			all = append(all, c)
		}
		after = s.to
	}
	return all
}

// between counts what lies between two orders.
func (d Diagram) between(after, before int) Cut {
	c := Cut{After: after}
	out := stretch{after + 1, before - 1}
	for _, m := range d.Messages {
		if out.has(m.order()) {
			c.Messages++
		}
	}
	for _, e := range d.Events {
		if out.has(e.At.Order) {
			c.Events++
		}
	}
	first := true
	for _, l := range d.Lines {
		switch {
		case !out.has(l.At.Order):
		case first:
			c.From, c.To, first = l.At.At, l.At.At, false
		default:
			c.To = l.At.At
		}
	}
	return c
}

// clipped returns the spans as far as they lie in a stretch.
func (d Diagram) clipped(list []stretch) (all []Span) {
	for _, s := range d.Spans {
		first := slices.IndexFunc(list, func(p stretch) bool { return p.to >= s.From.Order })
		if first < 0 || list[first].from > s.To.Order {
			continue
		}
		last := first
		for last+1 < len(list) && list[last+1].from <= s.To.Order {
			last++
		}
		s.From, s.To = d.inside(s.From, list[first]), d.inside(s.To, list[last])
		all = append(all, s)
	}
	return all
}

// inside returns the point of a stretch that is closest to a point.
func (d Diagram) inside(p Point, s stretch) Point {
	if s.has(p.Order) {
		return p
	}
	var closest Point
	for _, l := range d.Lines {
		switch {
		case !s.has(l.At.Order):
		case p.Order < s.from:
			return l.At
		default:
			closest = l.At
		}
	}
	return closest
}
