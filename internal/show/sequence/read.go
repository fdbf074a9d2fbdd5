package sequence

import (
	"cmp"
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/show/trace"
	"github.com/lockstorm/lockstorm/internal/timeline"
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

// order is the order of a line. It leaves room for a further point after each.
func order(line int) int { return 2 * line }

// line is the line of an order; of none, the first.
func line(order int) int { return max(order, 0) / 2 }

// builder makes a model of the lines of a trace.
type builder struct {
	past   timeline.Past
	lines  []trace.Line
	points map[int]Point // by the number of the event
	names  holdNames
	d      Diagram
	lanes  map[trace.Participant]int

	asked    map[requestKey]*request
	requests []*request
	accesses map[int]*request // by the number of the event that begins it
	silence  noAnswerEvent
}

func newBuilder(lines []trace.Line, past timeline.Past) *builder {
	r := &builder{
		past: past, lines: lines, points: map[int]Point{}, names: newHoldNames(lines), lanes: map[trace.Participant]int{},
		asked: map[requestKey]*request{}, accesses: map[int]*request{},
	}
	for i, l := range lines {
		r.points[l.Event] = Point{l.At, order(i)}
		r.d.times = append(r.d.times, l.At)
	}
	r.participate()
	return r
}

// participate lists the participants.
func (r *builder) participate() {
	for _, l := range r.lines {
		for _, p := range concerned(l) {
			if _, listed := r.lanes[p]; !listed && p.Role <= trace.Resource {
				r.lanes[p] = 0
				r.d.Participants = append(r.d.Participants, p)
			}
		}
	}
	slices.SortFunc(r.d.Participants, func(a, b trace.Participant) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Number, b.Number))
	})
	for i, p := range r.d.Participants {
		r.lanes[p] = i
	}
}

// concerned lists all participants of a line.
func concerned(l trace.Line) []trace.Participant {
	all := []trace.Participant{laneOf(l.Who)}
	switch h := l.Entry.(type) {
	case trace.Sent:
		for _, n := range h.To.List() {
			all = append(all, node(n))
		}
	case trace.Asked:
		all = append(all, store)
	case trace.Happened:
		if h.Kind == history.Read || h.Kind == history.Write {
			all = append(all, resource)
		}
	}
	return all
}

var (
	store    = trace.Participant{Role: trace.Store}
	resource = trace.Participant{Role: trace.Resource}
)

func client(n int) trace.Participant { return trace.Participant{Role: trace.Client, Number: n} }
func node(n int) trace.Participant   { return trace.Participant{Role: trace.Node, Number: n} }

// laneOf returns the participant in whose lane another one is shown.
func laneOf(p trace.Participant) trace.Participant {
	if p.Role == trace.Fault {
		p.Number = 0
	}
	return p
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

// event adds an event, if it has a text and a participant.
func (r *builder) event(at Point, who trace.Participant, text string, emphasis Emphasis) {
	lane, is := r.lanes[laneOf(who)]
	if !is || text == "" {
		return
	}
	r.d.Events = append(r.d.Events, Event{at, lane, text, emphasis})
}

// end is after everything else.
func (r *builder) end() Point {
	if len(r.lines) == 0 {
		return Point{}
	}
	return Point{r.lines[len(r.lines)-1].At, order(len(r.lines))}
}

// find returns the point of the first matching event at an instant or, if there is none, the
// beginning of the instant.
func (r *builder) find(at history.Time, is func(*history.Event) bool) Point {
	i := sort.Search(len(r.lines), func(i int) bool { return r.lines[i].At >= at })
	begin := Point{at, order(i) - 1}
	for ; i < len(r.lines) && r.lines[i].At == at; i++ {
		if h, happened := r.lines[i].Entry.(trace.Happened); happened && is(h.Event) {
			return Point{at, order(i)}
		}
	}
	return begin
}

func (r *builder) sort() {
	slices.SortStableFunc(r.d.Messages, func(a, b Message) int { return cmp.Compare(a.order(), b.order()) })
	slices.SortStableFunc(r.d.Events, func(a, b Event) int { return cmp.Compare(a.At.Order, b.At.Order) })
	slices.SortStableFunc(r.d.Spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.From.Order, b.From.Order), cmp.Compare(a.Who, b.Who))
	})
}

// order is the order of the end that the client observed.
func (m Message) order() int {
	if m.Reply && !m.Lost {
		return m.Received.Order
	}
	return m.Sent.Order
}
