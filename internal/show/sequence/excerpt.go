package sequence

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// MostMessages is about how many messages a diagram shows.
const MostMessages = 200

// orderRange is a part of a run, from the order of its first point to that of its last.
type orderRange struct{ from, to int }

func (s orderRange) has(order int) bool { return order >= s.from && order <= s.to }

// shorten returns the part of the diagram that its finding is about, if there are more messages
// than most.
func (d Diagram) shorten(most int) Diagram {
	if len(d.Messages) <= most {
		return d
	}
	return d.only(d.chooseRanges(most))
}

// chooseRanges chooses what is kept: an equal number of messages around each focus point.
func (d Diagram) chooseRanges(most int) (all []orderRange) {
	places := d.focusPoints()
	share := most / len(places)
	for _, at := range places {
		i, _ := slices.BinarySearchFunc(d.Messages, at, func(m Message, at int) int { return m.order() - at })
		from := max(0, min(i-share*2/3, len(d.Messages)-share))
		to := from + share - 1
		s := d.wholeInstants(orderRange{min(at, d.Messages[from].order()), max(at, d.Messages[to].order())})
		if from == 0 {
			s.from = -1
		}
		if to == len(d.Messages)-1 {
			s.to = d.last()
		}
		all = append(all, s)
	}
	return joinRanges(all)
}

// wholeInstants extends a range to whole instants.
func (d Diagram) wholeInstants(s orderRange) orderRange {
	from, to := line(s.from), line(s.to)
	for from > 0 && d.times[from-1] == d.times[from] {
		from--
	}
	for to < len(d.times)-1 && d.times[to+1] == d.times[to] {
		to++
	}
	return orderRange{order(from), order(to) + 1}
}

// last is the last order of all lines.
func (d Diagram) last() int { return order(len(d.times)) - 1 }

// focusPoints returns the orders to keep: when both holds begin and when their overlap ends, or
// else the place of the finding.
func (d Diagram) focusPoints() []int {
	at := func(t history.Time) int {
		i, _ := slices.BinarySearch(d.times, t)
		return min(order(i), d.last())
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

// joinRanges joins ranges that touch.
func joinRanges(list []orderRange) (all []orderRange) {
	slices.SortFunc(list, func(a, b orderRange) int { return a.from - b.from })
	for _, s := range list {
		if n := len(all); n > 0 && s.from <= all[n-1].to+1 {
			all[n-1].to = max(all[n-1].to, s.to)
			continue
		}
		all = append(all, s)
	}
	return all
}

// only returns the diagram with what lies in the ranges.
func (d Diagram) only(list []orderRange) Diagram {
	kept := func(order int) bool {
		return slices.ContainsFunc(list, func(s orderRange) bool { return s.has(order) })
	}
	d.Omissions = d.omissions(list)
	d.Messages = slices.DeleteFunc(slices.Clone(d.Messages), func(m Message) bool { return !kept(m.order()) })
	for i := range d.Messages {
		d.Messages[i].forget(kept)
	}
	d.Events = slices.DeleteFunc(slices.Clone(d.Events), func(e Event) bool { return !kept(e.At.Order) })
	d.Spans = d.clippedSpans(list)
	d.Lines = slices.DeleteFunc(slices.Clone(d.Lines), func(l Line) bool { return !kept(l.At.Order) })
	return d
}

// forget makes the end of a message unknown if it is left out.
func (m *Message) forget(kept func(order int) bool) {
	if m.SentKnown && !kept(m.Sent.Order) {
		m.Sent, m.SentKnown = m.Received, false
	}
	if m.ReceivedKnown && !kept(m.Received.Order) {
		m.Received, m.ReceivedKnown = m.Sent, false
	}
}

// omissions counts what lies before, between and after the ranges.
func (d Diagram) omissions(list []orderRange) (all []Omission) {
	after := -1
	for _, s := range append(slices.Clone(list), orderRange{d.last() + 1, d.last() + 1}) {
		if c := d.between(after, s.from); c.Messages+c.Events > 0 {
			all = append(all, c)
		}
		after = s.to
	}
	return all
}

// between counts what lies between two orders.
func (d Diagram) between(after, before int) Omission {
	c := Omission{After: after}
	out := orderRange{after + 1, before - 1}
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
	if first := line(out.from); first < len(d.times) {
		c.From, c.To = d.times[first], d.times[line(out.to)]
	}
	return c
}

// clippedSpans returns the spans, clipped to the ranges.
func (d Diagram) clippedSpans(list []orderRange) (all []Span) {
	for _, s := range d.Spans {
		first := slices.IndexFunc(list, func(p orderRange) bool { return p.to >= s.From.Order })
		if first < 0 || list[first].from > s.To.Order {
			continue
		}
		last := first
		for last+1 < len(list) && list[last+1].from <= s.To.Order {
			last++
		}
		s.From, s.To = d.clamp(s.From, list[first]), d.clamp(s.To, list[last])
		all = append(all, s)
	}
	return all
}

// clamp returns the point of a range that is closest to a point.
func (d Diagram) clamp(p Point, s orderRange) Point {
	if s.has(p.Order) {
		return p
	}
	n := line(min(max(p.Order, s.from), s.to))
	return Point{d.times[n], order(n)}
}
