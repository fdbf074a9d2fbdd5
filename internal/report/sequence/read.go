package sequence

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/trace"
)

// Of makes a diagram of what was heard in a run, for what was found in it. Of a long run
// it is the part that the finding is about: at most about [MostMessages] messages.
func Of(t *trace.Trace, f checker.Finding) Diagram { return of(t, f, MostMessages) }

func of(t *trace.Trace, f checker.Finding, most int) Diagram {
	r := newReading(t.Lines(checker.Lease))
	r.d.Finding = f
	for i, l := range r.lines {
		r.take(l, Point{l.At, order(i)})
	}
	r.close()
	r.resolve()
	r.windows(t.Windows(checker.Lease), t.Windows(checker.Section))
	r.overlap(f)
	r.sort()
	return r.d.around(most)
}

// order is that of a line; there is room for one of ours behind each.
func order(line int) int { return 2 * line }

// reading makes a model of lines.
type reading struct {
	lines []trace.Line
	names names
	d     Diagram
	lanes map[string]int // by the name that a trace has for it

	asked    map[call]*request
	requests []*request // in their order
	accesses map[access]*request
	outages  []outage
	open     map[opening]int // spans
	silence  silence
}

func newReading(lines []trace.Line) *reading {
	r := &reading{
		lines: lines, names: newNames(lines), lanes: map[string]int{},
		asked: map[call]*request{}, accesses: map[access]*request{}, open: map[opening]int{},
	}
	r.participate()
	return r
}

// participate lists the participants.
func (r *reading) participate() {
	seen := map[string]Participant{}
	for _, l := range r.lines {
		for _, who := range concerned(l) {
			if p := participant(who); p.Role != 0 {
				seen[who] = p
			}
		}
	}
	for _, p := range seen {
		if !slices.Contains(r.d.Participants, p) {
			r.d.Participants = append(r.d.Participants, p)
		}
	}
	slices.SortFunc(r.d.Participants, func(a, b Participant) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Number, b.Number))
	})
	for who, p := range seen {
		r.lanes[who] = slices.Index(r.d.Participants, p)
	}
}

// concerned names all whom a line is about, as a trace does.
func concerned(l trace.Line) []string {
	all := []string{l.Who}
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

// The names that a trace has for who is no client and no node.
const (
	store    = "store"
	resource = "resource"
)

func client(n int) string { return fmt.Sprintf("client %d", n) }
func node(n int) string   { return fmt.Sprintf("node %d", n) }

// participant returns whose name it is; the zero value if it is that of none.
func participant(who string) (p Participant) {
	if who == store {
		return Participant{Role: Store, Name: store}
	}
	if who == resource {
		return Participant{Role: Resource, Name: resource}
	}
	var name string
	if _, err := fmt.Sscanf(who, "%s %d", &name, &p.Number); err != nil {
		return Participant{}
	}
	switch name {
	case "client":
		return Participant{Client, p.Number, who}
	case "node":
		return Participant{Node, p.Number, who}
	case "fault":
		return Participant{Role: Faults, Name: "faults"}
	}
	return Participant{}
}

// take adds what a line says.
func (r *reading) take(l trace.Line, at Point) {
	if l.What != "" {
		r.d.Lines = append(r.d.Lines, Line{at, l.Who, r.names.told(l)})
	}
	switch h := l.Entry.(type) {
	case trace.Sent:
		r.sent(h, at)
	case *trace.Replied:
		r.replied(h, at)
	case trace.Asked:
		r.ask(h, at)
	case trace.Answered:
		r.answer(h, at)
	case trace.ClockIs:
		r.event(at, l.Who, l.What, Fault)
	case trace.Happened:
		if r.access(h.Event, at) {
			return
		}
		text, mood := r.names.said(h.Event, l.What)
		r.event(at, l.Who, text, mood)
		r.span(h.Event, at)
	}
}

// event adds an event, if it says something and is about somebody.
func (r *reading) event(at Point, who, text string, mood Mood) {
	lane, is := r.lanes[who]
	if !is || text == "" {
		return
	}
	r.d.Events = append(r.d.Events, Event{at, lane, text, mood})
}

// end is behind everything.
func (r *reading) end() Point {
	if len(r.lines) == 0 {
		return Point{}
	}
	return Point{r.lines[len(r.lines)-1].At, order(len(r.lines))}
}

// find returns where the first of the events is that happened to somebody then, or else
// the begin of that instant.
func (r *reading) find(at history.Time, is func(*history.Event) bool) Point {
	i := sort.Search(len(r.lines), func(i int) bool { return r.lines[i].At >= at })
	begin := Point{at, order(i) - 1}
	for ; i < len(r.lines) && r.lines[i].At == at; i++ {
		if h, happened := r.lines[i].Entry.(trace.Happened); happened && is(h.Event) {
			return Point{at, order(i)}
		}
	}
	return begin
}

// sort puts everything into its order.
func (r *reading) sort() {
	slices.SortStableFunc(r.d.Messages, func(a, b Message) int { return cmp.Compare(a.order(), b.order()) })
	slices.SortStableFunc(r.d.Events, func(a, b Event) int { return cmp.Compare(a.At.Order, b.At.Order) })
	slices.SortStableFunc(r.d.Spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.From.Order, b.From.Order), cmp.Compare(a.Who, b.Who))
	})
}

// order is that of the end of a message of which its client knows.
func (m Message) order() int {
	if m.Reply && !m.Lost {
		return m.Came.Order
	}
	return m.Sent.Order
}
