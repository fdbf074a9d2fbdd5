package sequence

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// spans adds what lasted, but for holds and requests to nodes and the store.
func (r *builder) spans() {
	for i := range r.past.Intervals {
		n := &r.past.Intervals[i]
		s := Span{Open: n.Open}
		switch e := &n.Begin; e.Kind {
		case history.Pause:
			s.State, s.Who = Paused, r.lanes[client(e.Client)]
		case history.Kill:
			s.State, s.Who = Dead, r.lanes[client(e.Client)]
		case history.NodeDown:
			s.State, s.Who = Down, r.lanes[node(e.Node)]
		case history.KeySet:
			s.State, s.Who, s.Owner, s.Text = Key, r.lanes[node(e.Node)], r.names.client[e.Token], r.names.name(e.Token)
		case history.FaultStart:
			s.State, s.Text = Acts, fault(e.Fault)
		case history.Read, history.Write:
			r.access(n)
			continue
		default:
			continue
		}
		s.From, s.To = r.ends(n)
		r.d.Spans = append(r.d.Spans, s)
	}
}

// holds adds the spans of holds: within the lease, and past it until the section ends.
func (r *builder) holds() {
	for _, h := range r.past.Holds {
		for _, p := range h.Parts() {
			s := Span{
				Who: r.lanes[client(h.Client)], State: Holding, Owner: h.Client, Text: r.names.name(h.Token),
				From: r.find(p.From, beginsHold(h.Grant)), To: r.endOfHold(p.To, h.Grant), Open: p.Open,
			}
			if p.Overdue {
				s.State = Overdue
			}
			r.d.Spans = append(r.d.Spans, s)
		}
	}
}

// beginsHold matches the events with which a hold, or its overdue part, begins.
func beginsHold(g timeline.Grant) func(*history.Event) bool {
	return func(e *history.Event) bool {
		return e.Client == g.Client && e.Token == g.Token &&
			slices.Contains([]history.Kind{history.Granted, history.Extended, history.Lapse}, e.Kind)
	}
}

// endOfHold returns the point at which one of the grants ends at an instant.
func (r *builder) endOfHold(at history.Time, grants ...timeline.Grant) Point {
	if at == r.end().At {
		return r.find(at, func(e *history.Event) bool { return endsHold(e, grants) || e.Kind == history.End })
	}
	return r.find(at, func(e *history.Event) bool { return endsHold(e, grants) })
}

// endsHold matches the events with which one of the grants may end.
func endsHold(e *history.Event, grants []timeline.Grant) bool {
	return slices.ContainsFunc(grants, func(g timeline.Grant) bool {
		switch e.Kind {
		case history.Release, history.Lost, history.Lapse, history.Expiring, history.Extended:
			return e.Client == g.Client && e.Token == g.Token
		case history.Kill:
			return e.Client == g.Client
		}
		return false
	})
}

// overlap adds the overlap of the finding, if it is about one.
func (r *builder) overlap(f checker.Finding) {
	p := f.First
	if p == nil || f.Verdict != checker.Violated || f.Property != checker.Lease && f.Property != checker.Section {
		return
	}
	o := Overlap{
		First: r.lanes[client(p.First.Client)], Second: r.lanes[client(p.Second.Client)],
		From: r.find(p.From, beginsHold(timeline.Grant(p.Second))), To: r.endOfHold(p.To, timeline.Grant(p.First), timeline.Grant(p.Second)),
	}
	r.d.Overlap = &o
	text := fmt.Sprintf("BOTH HOLD %s, for %s", r.names.key(p.Second.Resource), textfmt.Duration(p.Overlap()))
	r.event(Point{o.From.At, o.From.Order + 1}, client(p.Second.Client), text, Bad)
}
