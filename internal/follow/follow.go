package follow

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Interval is something that lasted for a time, or happened at an instant.
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

// IsCall reports whether the kind begins a call.
func IsCall(k history.Kind) bool {
	switch k {
	case history.Acquire, history.Extend, history.Release, history.Read, history.Write:
		return true
	}
	return false
}

// hasEnd reports whether another event ends what the kind begins.
func hasEnd(k history.Kind) bool {
	return IsCall(k) || k == history.Pause || k == history.NodeDown || k == history.KeySet || k == history.FaultStart
}

// Follower pairs events. It may be shown a part of the events of a history, in their order.
type Follower struct {
	each    func(*Interval)
	open    map[intervalKey]*Interval
	cut     map[int][]int // by client: the nodes to which it has no link
	changed map[int]bool  // clients whose links changed at the current instant
	now     history.Time
}

// intervalKey identifies an open interval.
type intervalKey struct {
	kind     history.Kind // that began it
	number   int          // of the fault, client or node
	token    string
	resource string
}

// New returns a follower that calls each with every interval when it ends. each must not keep
// the interval.
func New(each func(*Interval)) *Follower {
	return &Follower{each: each, open: map[intervalKey]*Interval{}, cut: map[int][]int{}, changed: map[int]bool{}}
}

// Observe processes the next event.
func (f *Follower) Observe(e *history.Event) {
	if e.Time != f.now {
		f.flushLinks()
		f.now = e.Time
	}
	switch kind, over := beginOf[e.Kind]; {
	case over:
		f.end(keyOf(kind, e), e)
	case hasEnd(e.Kind):
		if key := keyOf(e.Kind, e); f.open[key] == nil {
			f.open[key] = &Interval{Begin: *e, From: e.Time}
		}
	case e.Kind == history.LinkDown || e.Kind == history.LinkUp:
		f.setLink(e.Client, e.Node, e.Kind == history.LinkDown)
	default:
		f.each(&Interval{Begin: *e, From: e.Time, To: e.Time})
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

func (f *Follower) end(key intervalKey, e *history.Event) {
	i := f.open[key]
	if i == nil {
		return
	}
	delete(f.open, key)
	i.End, i.To = *e, e.Time
	f.each(i)
}

func (f *Follower) setLink(client, node int, down bool) {
	cut := f.cut[client]
	if slices.Contains(cut, node) == down {
		return
	}
	if down {
		f.cut[client] = slices.Sorted(slices.Values(append(slices.Clone(cut), node)))
	} else {
		f.cut[client] = slices.DeleteFunc(slices.Clone(cut), func(n int) bool { return n == node })
	}
	f.changed[client] = true
}

// flushLinks makes one interval of all links of a client that changed at one instant.
func (f *Follower) flushLinks() {
	for _, client := range slices.Sorted(maps.Keys(f.changed)) {
		key := intervalKey{kind: history.LinkDown, number: client}
		f.end(key, &history.Event{Time: f.now, Kind: history.LinkUp, Client: client})
		if cut := f.cut[client]; len(cut) > 0 {
			f.open[key] = &Interval{Begin: history.Event{Time: f.now, Kind: history.LinkDown, Client: client}, From: f.now, Cut: cut}
		}
	}
	clear(f.changed)
}

// Finish reports the open intervals, in the order in which they began.
func (f *Follower) Finish(end history.Time) {
	f.flushLinks()
	for _, key := range slices.SortedFunc(maps.Keys(f.open), func(a, b intervalKey) int {
		return cmp.Or(cmp.Compare(f.open[a].From, f.open[b].From), cmp.Compare(a.kind, b.kind), cmp.Compare(a.number, b.number),
			strings.Compare(a.token, b.token), strings.Compare(a.resource, b.resource))
	}) {
		i := f.open[key]
		i.To, i.Open = end, true
		f.each(i)
	}
	clear(f.open)
}

// String joins the label and the ending.
func (i *Interval) String() string {
	if ending := i.Ending(); ending != "" {
		return i.Label() + ": " + ending
	}
	return i.Label()
}

// Label says what lasted or happened: "paused", "acquire 1f0e2d3c", "from nodes 4 and 5". It
// names nodes, but not the client that the interval is about.
func (i *Interval) Label() string {
	e := &i.Begin
	switch e.Kind {
	case history.FaultStart:
		return cmp.Or(e.Detail, fmt.Sprintf("fault %d", e.Fault))
	case history.Pause:
		return "paused"
	case history.Kill:
		return "dies"
	case history.Cancel:
		return "its call is cancelled"
	case history.NodeDown:
		return fmt.Sprintf("node %d is down", e.Node)
	case history.Leader:
		if e.Node == 0 {
			return "no leader"
		}
		return strings.TrimSpace(fmt.Sprintf("node %d leads %s", e.Node, e.Detail))
	case history.LinkDown:
		cut := make([]string, len(i.Cut))
		for j, n := range i.Cut {
			cut[j] = fmt.Sprint(n)
		}
		return "from " + textfmt.Plural(len(cut), "node") + " " + textfmt.List(cut)
	case history.KeySet:
		if e.Client == 0 {
			return "key of " + textfmt.Token(e.Token)
		}
		return fmt.Sprintf("key of client %d (%s)", e.Client, textfmt.Token(e.Token))
	case history.Read:
		return "read"
	case history.Write:
		return fmt.Sprintf("write of %d", e.Value)
	case history.Apply:
		return fmt.Sprintf("applies %d of client %d", e.Value, e.Client)
	}
	return e.Kind.String() + " " + textfmt.Token(e.Token)
}

// Ending says how the interval ended; "": there is nothing to say.
func (i *Interval) Ending() string {
	e := &i.End
	switch {
	case e.Kind == 0 && i.Open && IsCall(i.Begin.Kind):
		return "no return"
	case e.Kind == history.NodeUp:
		return cmp.Or("back "+e.Detail, "back")
	case e.Kind == history.KeyGone:
		return e.Reason
	case e.Kind == history.ReadDone && e.Outcome == history.OK:
		return fmt.Sprint(e.Value)
	case e.Kind == history.ReadDone, e.Kind == history.WriteDone, e.Kind == history.Released:
		return cmp.Or(e.Reason, e.Outcome.String())
	case IsCall(i.Begin.Kind) && e.Kind != 0:
		return cmp.Or(e.Reason, e.Kind.String())
	}
	return ""
}
