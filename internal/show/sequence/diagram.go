package sequence

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/show/trace"
)

// Of makes the diagram of a trace for a finding. Of a long run it shows the part that the
// finding is about: about [MostMessages] messages.
func Of(t *trace.Trace, f checker.Finding) Diagram { return complete(t, f).shorten(MostMessages) }

// complete makes the diagram of a trace with all messages.
func complete(t *trace.Trace, f checker.Finding) Diagram {
	past := t.Past()
	r := newBuilder(t.Lines(past), past)
	r.d.Finding = f
	r.spans()
	for i, l := range r.lines {
		r.record(l, Point{l.At, order(i)})
	}
	r.resolve()
	r.holds()
	r.overlap(f)
	r.sort()
	return r.d
}

// record adds a line of the trace.
func (r *builder) record(l trace.Line, at Point) {
	if l.What != "" {
		r.d.Lines = append(r.d.Lines, Line{at, l.Who.String(), r.names.line(l)})
	}
	switch h := l.Entry.(type) {
	case trace.Sent:
		r.sent(h, at)
	case *trace.Replied:
		r.replied(h, at)
	case trace.Asked:
		r.storeRequest(h, at)
	case trace.Answered:
		r.storeReply(h, at)
	case trace.ClockIs:
		r.event(at, l.Who, l.What, Fault)
	case trace.Happened:
		switch h.Kind {
		case history.Read, history.ReadDone, history.Write, history.WriteDone: // messages
			return
		case history.Apply:
			r.applied(h.Event, at)
		}
		text, emphasis := r.names.event(h.Event, l.What)
		r.event(at, l.Who, text, emphasis)
	}
}

func (r *builder) sort() {
	slices.SortStableFunc(r.d.Messages, func(a, b Message) int { return cmp.Compare(a.order(), b.order()) })
	slices.SortStableFunc(r.d.Events, func(a, b Event) int { return cmp.Compare(a.At.Order, b.At.Order) })
	slices.SortStableFunc(r.d.Spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.From.Order, b.From.Order), cmp.Compare(a.Who, b.Who))
	})
}
