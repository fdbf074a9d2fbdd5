package sequence

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// spanKey identifies an open span.
type spanKey struct {
	state  State
	number int // of the client, node or fault
	key    string
	token  string
}

// span begins and ends spans at an event.
func (r *builder) span(e *history.Event, at Point) {
	switch e.Kind {
	case history.Pause:
		r.beginSpan(spanKey{state: Paused, number: e.Client}, at, Span{Who: r.lanes[client(e.Client)]})
	case history.Resume:
		r.endSpan(spanKey{state: Paused, number: e.Client}, at)
	case history.Kill:
		r.endSpan(spanKey{state: Paused, number: e.Client}, at)
		r.beginSpan(spanKey{state: Dead, number: e.Client}, at, Span{Who: r.lanes[client(e.Client)]})
	case history.NodeDown:
		r.beginSpan(spanKey{state: Down, number: e.Node}, at, Span{Who: r.lanes[node(e.Node)]})
		r.linkDown(e, at)
	case history.NodeUp:
		r.endSpan(spanKey{state: Down, number: e.Node}, at)
		r.linkUp(0, e.Node, at)
	case history.LinkDown:
		r.linkDown(e, at)
	case history.LinkUp:
		r.linkUp(e.Client, e.Node, at)
	case history.KeySet:
		r.beginSpan(spanKey{Key, e.Node, e.Resource, e.Token}, at, Span{
			Who: r.lanes[node(e.Node)], Owner: r.names.client[e.Token], Text: r.names.name(e.Token),
		})
	case history.KeyGone:
		r.endSpan(spanKey{Key, e.Node, e.Resource, e.Token}, at)
	case history.FaultStart:
		r.beginSpan(spanKey{state: Acts, number: e.Fault}, at, Span{Who: 0, Text: fmt.Sprintf("F%d", e.Fault)})
	case history.FaultEnd:
		r.endSpan(spanKey{state: Acts, number: e.Fault}, at)
	}
}

func (r *builder) beginSpan(o spanKey, at Point, s Span) {
	if _, open := r.open[o]; open {
		return
	}
	s.State, s.From, s.To, s.Open = o.state, at, at, true
	r.open[o] = len(r.d.Spans)
	r.d.Spans = append(r.d.Spans, s)
}

func (r *builder) endSpan(o spanKey, at Point) {
	if i, open := r.open[o]; open {
		r.d.Spans[i].To, r.d.Spans[i].Open = at, false
		delete(r.open, o)
	}
}

// closeOpen ends the open spans and outages at the end of the run.
func (r *builder) closeOpen() {
	for _, i := range r.open {
		r.d.Spans[i].To = r.end()
	}
	for i := range r.outages {
		if r.outages[i].open {
			r.outages[i].to = r.end()
		}
	}
}

// holder names the hold whose key a node kept all the time between two points; "": none.
func (r *builder) holder(number int, key string, from, to Point) string {
	for o, i := range r.open {
		if o.state == Key && o.number == number && o.key == key && r.d.Spans[i].From.Order < from.Order && to.Order > from.Order {
			return r.d.Spans[i].Text
		}
	}
	return ""
}

// linkOutage is when a client had no link to a node; client 0: no client had one.
type linkOutage struct {
	client, node, fault int
	from, to            Point
	open                bool
}

func (r *builder) linkDown(e *history.Event, at Point) {
	r.outages = append(r.outages, linkOutage{e.Client, e.Node, e.Fault, at, at, true})
}

func (r *builder) linkUp(client, node int, at Point) {
	for i := range r.outages {
		if o := &r.outages[i]; o.open && o.client == client && o.node == node {
			o.to, o.open = at, false
		}
	}
}

// lossFault returns the fault that may have lost a message; 0: none is known.
func (r *builder) lossFault(client, node int, from, to Point) int {
	for _, o := range r.outages {
		if o.node == node && (o.client == 0 || o.client == client) && o.from.Order <= to.Order && o.to.Order >= from.Order {
			return o.fault
		}
	}
	return 0
}

// holds adds the spans of holds: within the lease, and past it until the section ends.
func (r *builder) holds(leases, sections []timeline.Window) {
	of := map[string][]timeline.Window{} // by token
	for _, w := range leases {
		if !w.Empty {
			r.addHold(Holding, w, w.From, w.To)
			of[w.Grant.Token] = append(of[w.Grant.Token], w)
		}
	}
	for _, s := range sections {
		for from, to := range timeline.Overdue(s, of[s.Grant.Token]) {
			r.addHold(Overdue, s, from, to)
		}
	}
}

func (r *builder) addHold(state State, w timeline.Window, from, to history.Time) {
	g := w.Grant
	r.d.Spans = append(r.d.Spans, Span{
		Who: r.lanes[client(g.Client)], State: state, Owner: g.Client, Text: r.names.name(g.Token),
		From: r.find(from, beginsHold(g)), To: r.endOfHold(to, g), Open: w.By == 0,
	})
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
