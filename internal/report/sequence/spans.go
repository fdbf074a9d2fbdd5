package sequence

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/follow"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// opening is what an open span is about.
type opening struct {
	state  State
	number int // of the client, node or fault
	key    string
	token  string
}

// span follows what begins and ends with an event.
func (r *reading) span(e *history.Event, at Point) {
	switch e.Kind {
	case history.Pause:
		r.begin(opening{state: Paused, number: e.Client}, at, Span{Who: r.lanes[client(e.Client)]})
	case history.Resume:
		r.finish(opening{state: Paused, number: e.Client}, at)
	case history.Kill:
		r.finish(opening{state: Paused, number: e.Client}, at)
		r.begin(opening{state: Dead, number: e.Client}, at, Span{Who: r.lanes[client(e.Client)]})
	case history.NodeDown:
		r.begin(opening{state: Down, number: e.Node}, at, Span{Who: r.lanes[node(e.Node)]})
		r.interrupt(e, at)
	case history.NodeUp:
		r.finish(opening{state: Down, number: e.Node}, at)
		r.mend(0, e.Node, at)
	case history.LinkDown:
		r.interrupt(e, at)
	case history.LinkUp:
		r.mend(e.Client, e.Node, at)
	case history.KeySet:
		r.begin(opening{Key, e.Node, e.Resource, e.Token}, at, Span{
			Who: r.lanes[node(e.Node)], Owner: r.owner(e.Token), Text: r.names.name(e.Token),
		})
	case history.KeyGone:
		r.finish(opening{Key, e.Node, e.Resource, e.Token}, at)
	case history.FaultStart:
		r.begin(opening{state: Acts, number: e.Fault}, at, Span{Who: 0, Text: fmt.Sprintf("F%d", e.Fault)})
	case history.FaultEnd:
		r.finish(opening{state: Acts, number: e.Fault}, at)
	}
}

func (r *reading) begin(o opening, at Point, s Span) {
	if _, open := r.open[o]; open {
		return
	}
	s.State, s.From, s.To, s.Open = o.state, at, at, true
	r.open[o] = len(r.d.Spans)
	r.d.Spans = append(r.d.Spans, s)
}

func (r *reading) finish(o opening, at Point) {
	if i, open := r.open[o]; open {
		r.d.Spans[i].To, r.d.Spans[i].Open = at, false
		delete(r.open, o)
	}
}

// close ends what is open where the run does.
func (r *reading) close() {
	for _, i := range r.open {
		r.d.Spans[i].To = r.end()
	}
	for i := range r.outages {
		if r.outages[i].open {
			r.outages[i].to = r.end()
		}
	}
}

// owner is the client whose try the token names; 0: nobody's.
func (r *reading) owner(token string) (n int) {
	_, _ = fmt.Sscanf(r.names.of[token], "c%d-", &n) // what is no such name is nobody's
	return n
}

// holder names the hold whose key a node has kept from one point to another; empty:
// nobody's all that time.
func (r *reading) holder(number int, key string, from, to Point) string {
	for o, i := range r.open {
		if o.state == Key && o.number == number && o.key == key && r.d.Spans[i].From.Order < from.Order && to.Order > from.Order {
			return r.d.Spans[i].Text
		}
	}
	return ""
}

// outage is when a client had no way to a node; client 0: nobody had.
type outage struct {
	client, node, fault int
	from, to            Point
	open                bool
}

func (r *reading) interrupt(e *history.Event, at Point) {
	r.outages = append(r.outages, outage{e.Client, e.Node, e.Fault, at, at, true})
}

func (r *reading) mend(client, node int, at Point) {
	for i := range r.outages {
		if o := &r.outages[i]; o.open && o.client == client && o.node == node {
			o.to, o.open = at, false
		}
	}
}

// blame returns the fault by which a message may have been lost; 0: none is known.
func (r *reading) blame(client, node int, from, to Point) int {
	for _, o := range r.outages {
		if o.node == node && (o.client == 0 || o.client == client) && o.from.Order <= to.Order && o.to.Order >= from.Order {
			return o.fault
		}
	}
	return 0
}

// windows adds when clients hold, and when they only believe it: what is left of a
// section when the lease is over.
func (r *reading) windows(leases, sections []checker.Window) {
	of := map[string][]checker.Window{} // by token
	for _, w := range leases {
		if !w.Empty {
			r.hold(Holding, w, w.From, w.To)
			of[w.Grant.Token] = append(of[w.Grant.Token], w)
		}
	}
	for _, s := range sections {
		for from, to := range follow.Overdue(s, of[s.Grant.Token]) {
			r.hold(Overdue, s, from, to)
		}
	}
}

func (r *reading) hold(state State, w checker.Window, from, to history.Time) {
	g := w.Grant
	r.d.Spans = append(r.d.Spans, Span{
		Who: r.lanes[client(g.Client)], State: state, Owner: g.Client, Text: r.names.name(g.Token),
		From: r.find(from, begins(g)), To: r.ending(to, g), Open: w.By == 0,
	})
}

// begins knows the events with which a hold begins to exclude others, or stops to be
// within its validity.
func begins(g checker.Grant) func(*history.Event) bool {
	return func(e *history.Event) bool {
		return e.Client == g.Client && e.Token == g.Token &&
			slices.Contains([]history.Kind{history.Granted, history.Extended, history.Lapse}, e.Kind)
	}
}

// ending is where holds end at an instant, of which one may be any of these.
func (r *reading) ending(at history.Time, grants ...checker.Grant) Point {
	if at == r.end().At {
		return r.find(at, func(e *history.Event) bool { return ends(e, grants) || e.Kind == history.End })
	}
	return r.find(at, func(e *history.Event) bool { return ends(e, grants) })
}

// ends knows the events with which a hold may end.
func ends(e *history.Event, grants []checker.Grant) bool {
	return slices.ContainsFunc(grants, func(g checker.Grant) bool {
		switch e.Kind {
		case history.Release, history.Lost, history.Lapse, history.Expiring, history.Extended:
			return e.Client == g.Client && e.Token == g.Token
		case history.Kill:
			return e.Client == g.Client
		}
		return false
	})
}

// overlap adds when two held at once, if that is what was found.
func (r *reading) overlap(f checker.Finding) {
	p := f.First
	if p == nil || f.Verdict != checker.Violated || f.Property != checker.Lease && f.Property != checker.Section {
		return
	}
	o := Overlap{
		First: r.lanes[client(p.First.Client)], Second: r.lanes[client(p.Second.Client)],
		From: r.find(p.From, begins(p.Second)), To: r.ending(p.To, p.First, p.Second),
	}
	r.d.Overlap = &o
	text := fmt.Sprintf("BOTH HOLD %s, for %s", r.names.key(p.Second.Resource), textfmt.Duration(p.Overlap()))
	r.event(Point{o.From.At, o.From.Order + 1}, client(p.Second.Client), text, Bad)
}
