package history

import "sync"

// Group is a sink that passes events on in groups, some time after they were recorded. Code that
// takes many events in a row stays in the processor's cache, and so does that of a simulator in
// between. Close it after the last event.
type Group struct {
	to     Sink
	events [groupSize]Event
	n      int // how many of them wait
}

const groupSize = 128

// groups are those that nobody uses: a group is large beside the history of a small world.
var groups = sync.Pool{New: func() any { return new(Group) }}

// NewGroup returns a group that passes events on to a sink.
func NewGroup(to Sink) *Group {
	g := groups.Get().(*Group)
	g.to = to
	return g
}

// Record implements [Sink].
func (g *Group) Record(e *Event) { *g.Next() = *e }

// Next returns the place for the next event, which the caller fills in before it calls the group
// again.
func (g *Group) Next() *Event {
	if g.n == len(g.events) {
		g.passOn()
	}
	g.n++
	return &g.events[g.n-1]
}

func (g *Group) passOn() {
	for i := range g.events[:g.n] {
		g.to.Record(&g.events[i])
	}
	g.n = 0
}

// Close passes on the events that wait. The group must not be used any more.
func (g *Group) Close() {
	g.passOn()
	g.to = nil
	groups.Put(g)
}
