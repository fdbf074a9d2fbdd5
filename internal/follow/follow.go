package follow

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// Course is something that went on for a time, or happened at an instant.
type Course struct {
	Begin history.Event // by which it began, or that it is
	End   history.Event // by which it ended; of no kind: nothing did, or nothing had to

	From, To history.Time // To: of what goes on when the history ends, that end
	Open     bool         // it goes on then

	// Cut, of a course that a LinkDown begins, are all nodes to which the client has no
	// link in this time, in their order.
	Cut []int
}

// ends says of each kind of event that ends something what begins it.
var ends = map[history.Kind]history.Kind{
	history.Granted: history.Acquire, history.Refused: history.Acquire,
	history.Extended: history.Extend, history.ExtendFailed: history.Extend,
	history.Released: history.Release,
	history.ReadDone: history.Read, history.WriteDone: history.Write,
	history.Resume: history.Pause, history.NodeUp: history.NodeDown,
	history.KeyGone: history.KeySet, history.FaultEnd: history.FaultStart,
}

// IsCall reports whether what the kind begins is a call, which returns.
func IsCall(k history.Kind) bool {
	switch k {
	case history.Acquire, history.Extend, history.Release, history.Read, history.Write:
		return true
	}
	return false
}

// lasts reports whether another event ends what the kind begins.
func lasts(k history.Kind) bool {
	return IsCall(k) || k == history.Pause || k == history.NodeDown || k == history.KeySet || k == history.FaultStart
}

// Follower follows what goes on. Events of no interest need not be shown to it; those that
// are come in the order of a history.
type Follower struct {
	each func(*Course)
	open map[subject]*Course
	cut  map[int][]int // by client: the nodes that it has no link to
	torn map[int]bool  // clients whose links have changed in this instant
	now  history.Time
}

// subject is what an open course is about.
type subject struct {
	kind     history.Kind // that began it
	number   int          // of the fault, client or node
	token    string
	resource string
}

// New returns a follower that tells each course when it ends. What is told is not to be
// kept.
func New(each func(*Course)) *Follower {
	return &Follower{each: each, open: map[subject]*Course{}, cut: map[int][]int{}, torn: map[int]bool{}}
}

// Observe takes the next event.
func (f *Follower) Observe(e *history.Event) {
	if e.Time != f.now {
		f.settle()
		f.now = e.Time
	}
	switch kind, over := ends[e.Kind]; {
	case over:
		f.end(subjectOf(kind, e), e)
	case lasts(e.Kind):
		f.begin(subjectOf(e.Kind, e), e)
	case e.Kind == history.LinkDown || e.Kind == history.LinkUp:
		f.sever(e.Client, e.Node, e.Kind == history.LinkDown)
	default:
		f.each(&Course{Begin: *e, From: e.Time, To: e.Time})
	}
}

func subjectOf(kind history.Kind, e *history.Event) subject {
	switch kind {
	case history.FaultStart:
		return subject{kind: kind, number: e.Fault}
	case history.Pause:
		return subject{kind: kind, number: e.Client}
	case history.NodeDown:
		return subject{kind: kind, number: e.Node}
	case history.KeySet:
		return subject{kind, e.Node, e.Token, e.Resource}
	}
	return subject{kind, e.Client, e.Token, e.Resource}
}

// begin begins a course, unless it goes on already.
func (f *Follower) begin(s subject, e *history.Event) {
	if f.open[s] == nil {
		f.open[s] = &Course{Begin: *e, From: e.Time}
	}
}

func (f *Follower) end(s subject, e *history.Event) {
	c := f.open[s]
	if c == nil {
		return
	}
	delete(f.open, s)
	c.End, c.To = *e, e.Time
	f.each(c)
}

func (f *Follower) sever(client, node int, cut bool) {
	had := slices.Contains(f.cut[client], node)
	switch {
	case cut && !had:
		f.cut[client] = append(slices.Clone(f.cut[client]), node)
		slices.Sort(f.cut[client])
	case !cut && had:
		f.cut[client] = slices.DeleteFunc(slices.Clone(f.cut[client]), func(n int) bool { return n == node })
	default:
		return
	}
	f.torn[client] = true
}

// settle makes one course of all links of a client that change in an instant.
func (f *Follower) settle() {
	if len(f.torn) == 0 {
		return
	}
	for _, client := range slices.Sorted(maps.Keys(f.torn)) {
		s := subject{kind: history.LinkDown, number: client}
		f.end(s, &history.Event{Time: f.now, Kind: history.LinkUp, Client: client})
		if cut := f.cut[client]; len(cut) > 0 {
			f.open[s] = &Course{Begin: history.Event{Time: f.now, Kind: history.LinkDown, Client: client}, From: f.now, Cut: cut}
		}
	}
	clear(f.torn)
}

// Finish tells what goes on at the end, in an order that does not vary: by when it began.
func (f *Follower) Finish(end history.Time) {
	f.settle()
	for _, s := range slices.SortedFunc(maps.Keys(f.open), func(a, b subject) int {
		return cmp.Or(cmp.Compare(f.open[a].From, f.open[b].From), cmp.Compare(a.kind, b.kind), cmp.Compare(a.number, b.number),
			strings.Compare(a.token, b.token), strings.Compare(a.resource, b.resource))
	}) {
		c := f.open[s]
		c.To, c.Open = end, true
		f.each(c)
	}
	clear(f.open)
}
