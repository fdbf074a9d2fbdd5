package timeline

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// Interval is something that lasted for a time, or happened at an instant: a call, a pause, a key on a node, a
// fault, a node that is down, links that are cut.
type Interval struct {
	Begin history.Event // the event that begins it, or the only one
	End   history.Event // the event that ends it; without a kind if there is none

	From, To history.Time // To is the end of the history if the interval is open
	Open     bool         // it has not ended when the history ends

	// Cut lists the nodes to which the client has no link, in ascending order, if a LinkDown
	// begins the interval.
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
}

// begins are the kinds of events that begin an interval.
var begins = func() (k Kinds) {
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
	kind     history.Kind // that began it
	number   int          // of the fault, client or node
	token    string
	resource string
}

// Wants implements [Observer].
func (*intervals) Wants() Kinds { return ^KindSet(history.Step, history.End) }

// Observe implements [Observer].
func (x *intervals) Observe(f *Fact) {
	e := *f.Event
	if e.Kind == Reentered {
		e.Kind = history.Granted
	}
	kind, over := beginOf[e.Kind]
	switch {
	case f.Ordinal == 0: // nothing that was recorded
	case over:
		x.end(keyOf(kind, &e), &e)
	case begins.Has(e.Kind):
		if key := keyOf(e.Kind, &e); x.open[key] == nil {
			x.open[key] = &Interval{Begin: e, From: e.Time}
		}
	case e.Kind == history.LinkDown || e.Kind == history.LinkUp:
		if f.LinkChanged && !slices.Contains(x.changed, f.Actor) {
			x.changed = append(x.changed, f.Actor)
		}
	default:
		x.each(&Interval{Begin: e, From: e.Time, To: e.Time})
	}
}

func keyOf(kind history.Kind, e *history.Event) intervalKey {
	switch kind {
	case history.FaultStart:
		return intervalKey{kind: kind, number: e.Fault}
	case history.Pause:
		return intervalKey{kind: kind, number: e.Client}
	case history.NodeDown:
		return intervalKey{kind: kind, number: e.Node}
	case history.KeySet:
		return intervalKey{kind, e.Node, e.Token, e.Resource}
	}
	return intervalKey{kind, e.Client, e.Token, e.Resource}
}

func (x *intervals) end(key intervalKey, e *history.Event) {
	i := x.open[key]
	if i == nil {
		return
	}
	delete(x.open, key)
	i.End, i.To = *e, e.Time
	x.each(i)
}

// Settle makes one interval of all links of a client that have changed in the instant.
func (x *intervals) Settle() {
	slices.SortFunc(x.changed, func(a, b *Client) int { return cmp.Compare(a.Number, b.Number) })
	for _, c := range x.changed {
		now, key := x.timeline.Now, intervalKey{kind: history.LinkDown, number: c.Number}
		x.end(key, &history.Event{Time: now, Kind: history.LinkUp, Client: c.Number})
		if c.Unlinked != 0 {
			x.open[key] = &Interval{Begin: history.Event{Time: now, Kind: history.LinkDown, Client: c.Number}, From: now, Cut: c.Unlinked.List()}
		}
	}
	x.changed = x.changed[:0]
}

// Settles implements [SelectiveSettler].
func (*intervals) Settles() Kinds { return KindSet(history.LinkDown, history.LinkUp) }

// finish passes on the open intervals, in the order in which they began.
func (x *intervals) finish(end history.Time) {
	for _, key := range slices.SortedFunc(maps.Keys(x.open), func(a, b intervalKey) int {
		return cmp.Or(cmp.Compare(x.open[a].From, x.open[b].From), cmp.Compare(a.kind, b.kind), cmp.Compare(a.number, b.number),
			strings.Compare(a.token, b.token), strings.Compare(a.resource, b.resource))
	}) {
		i := x.open[key]
		i.To, i.Open = end, true
		x.each(i)
	}
}

// Overdue returns the periods of a section window in which no lease window covers it: the
// client works on past its validity. The leases are those of the same grant, in the order of
// time.
func Overdue(section Window, leases []Window) iter.Seq2[history.Time, history.Time] {
	return func(yield func(from, to history.Time) bool) {
		from := section.From
		for _, l := range leases {
			if l.Empty || l.To <= from {
				continue
			}
			if to := min(l.From, section.To); from < to && !yield(from, to) {
				return
			}
			from = l.To
		}
		if from < section.To {
			yield(from, section.To)
		}
	}
}
