package sequence

import (
	"cmp"
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/show/trace"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

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

// requestKey identifies a request of a round. For the store, node is 0.
type requestKey struct{ round, node int }

// request is a request to a node, the store or the guarded resource.
type request struct {
	client, node int
	message      int // index in the diagram
	reply        int // index in the diagram; below 0: none
	command      env.Command
	op           env.StoreOp
	at           Point
	answered     Point // when the client received the answer, or gave up
	answer       env.Answer
}

// noAnswerEvent is the last event that lists nodes without an answer.
type noAnswerEvent struct {
	event, round int
	at           Point
	nodes        env.NodeSet
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

// ends returns the ends of an interval. One that is open lasts until the end of the run.
func (r *builder) ends(i *timeline.Interval) (from, to Point) {
	if i.Open {
		return r.points[i.First], r.end()
	}
	return r.points[i.First], r.points[i.Last]
}

// during returns the first interval of a node that was going on between two points, and is one that is meant.
func (r *builder) during(node int, from, to Point, is func(*timeline.Interval) bool) *timeline.Interval {
	for n := range r.past.Intervals {
		i := &r.past.Intervals[n]
		if i.Begin.Node != node || !is(i) {
			continue
		}
		if begin, end := r.ends(i); begin.Order <= to.Order && end.Order >= from.Order {
			return i
		}
	}
	return nil
}

// holder names the hold whose key a node kept all the time between two points; "": none.
func (r *builder) holder(number int, key string, from, to Point) string {
	kept := r.during(number, from, to, func(i *timeline.Interval) bool {
		begin, end := r.ends(i)
		return i.Begin.Kind == history.KeySet && i.Begin.Resource == key && begin.Order < from.Order && end.Order > to.Order
	})
	if kept == nil {
		return ""
	}
	return r.names.name(kept.Begin.Token)
}

// lossFault returns the fault that may have lost a message of a client to or from a node; 0: none is known.
func (r *builder) lossFault(client, node int, from, to Point) int {
	cut := r.during(node, from, to, func(i *timeline.Interval) bool {
		return i.Begin.Kind == history.NodeDown || i.Begin.Kind == history.LinkDown && i.Begin.Client == client
	})
	if cut == nil {
		return 0
	}
	return cut.Begin.Fault
}
