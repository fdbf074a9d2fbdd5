package timeline

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// Interval is something that lasted for a time, or happened at an instant: a call, a pause, a death, a key on a
// node, a fault, a node that is down, a link that is cut, a store without a leader.
type Interval struct {
	Begin history.Event // the event that begins it, or the only one
	End   history.Event // the event that ends it; without a kind if there is none

	First, Last int // numbers of the two events in the history, from 1; 0: there is none

	From, To history.Time // To is the end of the history if the interval is open
	Open     bool         // it has not ended when the history ends

	// Cut lists all nodes to which the client has no link, in ascending order, if the interval is that of its
	// links together. Its Begin is a LinkDown without a node. Each link has an interval of its own, too.
	Cut []int
}

// beginOf maps a kind of event that ends an interval to the kind that begins it.
var beginOf = map[history.Kind]history.Kind{
	history.Granted: history.Acquire, history.Refused: history.Acquire,
	history.Extended: history.Extend, history.ExtendFailed: history.Extend,
	history.Released: history.Release,
	history.ReadDone: history.Read, history.WriteDone: history.Write,
	history.Resume: history.Pause, history.NodeUp: history.NodeDown,
	history.KeyGone: history.KeySet, history.FaultEnd: history.FaultStart,
	history.LinkUp: history.LinkDown,
}

// begins are the kinds of events that begin an interval. Nothing ends a death.
var begins = func() Kinds {
	k := KindSet(history.Kill)
	for _, begin := range beginOf {
		k |= KindSet(begin)
	}
	return k
}()

// IsCall reports whether a call begins the interval.
func (i *Interval) IsCall() bool { return isCall(i.Begin.Kind) }

// Intervals calls each with every interval when it ends, and in Close with those that are open. each must
// not keep the interval. Call it before the first event.
func (t *Timeline) Intervals(each func(*Interval)) {
	t.intervals = &intervals{timeline: t, each: each, open: map[intervalKey]*Interval{}}
	t.Listen(t.intervals)
}

// intervals pairs events.
type intervals struct {
	timeline *Timeline
	each     func(*Interval)
	open     map[intervalKey]*Interval
	changed  []*Client // clients whose links have changed in this instant
}

// intervalKey identifies an open interval.
type intervalKey struct {
	kind         history.Kind // that began it
	client, node int
	fault        int
	token        string
	resource     string
}

// Wants implements [Observer].
func (*intervals) Wants() Kinds { return ^KindSet(history.Step, history.End) }

// Observe implements [Observer].
func (x *intervals) Observe(f *Fact) {
	if f.Ordinal == 0 { // the history does not record it
		return
	}
	e := *f.Event
	switch e.Kind {
	case Reentered:
		e.Kind = history.Granted
	case history.Kill:
		x.end(intervalKey{kind: history.Pause, client: e.Client}, e, f.Ordinal) // the dead are not paused
	case history.LinkDown, history.LinkUp:
		if !f.LinkChanged {
			return
		}
		if !slices.Contains(x.changed, f.Actor) {
			x.changed = append(x.changed, f.Actor)
		}
	case history.Leader:
		leaderless := intervalKey{kind: history.Leader}
		x.end(leaderless, e, f.Ordinal)
		if e.Node == 0 {
			x.begin(leaderless, Interval{Begin: e, First: f.Ordinal, From: e.Time})
			return
		}
	}
	kind, over := beginOf[e.Kind]
	switch {
	case over:
		x.end(keyOf(kind, &e), e, f.Ordinal)
	case begins.Has(e.Kind):
		x.begin(keyOf(e.Kind, &e), Interval{Begin: e, First: f.Ordinal, From: e.Time})
	default:
		x.each(&Interval{Begin: e, First: f.Ordinal, From: e.Time, To: e.Time})
	}
}

func keyOf(kind history.Kind, e *history.Event) intervalKey {
	switch kind {
	case history.FaultStart:
		return intervalKey{kind: kind, fault: e.Fault}
	case history.Pause, history.Kill:
		return intervalKey{kind: kind, client: e.Client}
	case history.NodeDown:
		return intervalKey{kind: kind, node: e.Node}
	case history.LinkDown:
		return intervalKey{kind: kind, client: e.Client, node: e.Node}
	case history.KeySet:
		return intervalKey{kind: kind, node: e.Node, token: e.Token, resource: e.Resource}
	}
	return intervalKey{kind: kind, client: e.Client, token: e.Token, resource: e.Resource}
}

// begin opens an interval, unless it is open.
func (x *intervals) begin(key intervalKey, i Interval) {
	if x.open[key] == nil {
		x.open[key] = &i
	}
}

// end ends an interval, if it is open.
func (x *intervals) end(key intervalKey, by history.Event, ordinal int) {
	i := x.open[key]
	if i == nil {
		return
	}
	delete(x.open, key)
	i.End, i.Last, i.To = by, ordinal, by.Time
	x.each(i)
}

// Settle makes one interval of all links of a client that have changed in the instant.
func (x *intervals) Settle() {
	slices.SortFunc(x.changed, func(a, b *Client) int { return cmp.Compare(a.Number, b.Number) })
	for _, c := range x.changed {
		now, key := x.timeline.Now, intervalKey{kind: history.LinkDown, client: c.Number}
		x.end(key, history.Event{Time: now, Kind: history.LinkUp, Client: c.Number}, 0)
		if c.Unlinked != 0 {
			x.begin(key, Interval{Begin: history.Event{Time: now, Kind: history.LinkDown, Client: c.Number}, From: now, Cut: c.Unlinked.List()})
		}
	}
	x.changed = x.changed[:0]
}

// Settles implements [SelectiveSettler].
func (*intervals) Settles() Kinds { return KindSet(history.LinkDown, history.LinkUp) }

// finish passes on the open intervals, in the order in which they began.
func (x *intervals) finish(end history.Time) {
	for _, key := range slices.SortedFunc(maps.Keys(x.open), func(a, b intervalKey) int {
		return cmp.Or(cmp.Compare(x.open[a].From, x.open[b].From), cmp.Compare(a.kind, b.kind), cmp.Compare(a.fault, b.fault),
			cmp.Compare(a.client, b.client), cmp.Compare(a.node, b.node), strings.Compare(a.token, b.token), strings.Compare(a.resource, b.resource))
	}) {
		i := x.open[key]
		i.To, i.Open = end, true
		x.each(i)
	}
}
