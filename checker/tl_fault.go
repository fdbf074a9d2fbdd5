package checker

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// faultLog keeps what was done to the world. An effect of a planned fault belongs to
// that fault; anything else is one of its own.
type faultLog struct {
	recent []loggedFault
	going  map[int]bool // planned faults that go on, by number
	ended  []int        // faults that have ended since the last try or grant, at most maxNotes
}

// loggedFault is a fault, or a change without one.
type loggedFault struct {
	about subject
	text  string
	from  history.Time
	to    history.Time
	open  bool   // it goes on
	ended bool   // it has ended; neither is true of what takes no time
	left  string // the state in which it left its subject

	kind  string       // of the fault; "": the history does not say
	wrong nodeOrClient // the machine whose clock it makes wrong, if any
}

// nodeOrClient is a machine with clocks.
type nodeOrClient struct{ node, client int }

// subject is a planned fault, or a client or node that something was done to.
type subject struct {
	kind   history.Kind // of the event that begins it
	number int
}

// none reports whether nothing was done to the world.
func (n *faultLog) none() bool { return len(n.recent) == 0 }

// maxNotes bounds the faults that are kept. Those that go on are kept longest.
const maxNotes = 64

// noted are the kinds of events that are observed.
var noted = kindSet(history.FaultStart, history.FaultEnd, history.NodeDown, history.NodeUp, history.Pause, history.Resume, history.Kill)

func (n *faultLog) observe(f *fact) {
	if f.Kind == history.FaultStart {
		n.begin(f, faultText(f))
		return
	}
	about := subject{history.FaultStart, f.Fault}
	if f.Fault == 0 {
		about = f.subject()
		n.observeBare(f)
	}
	switch f.Kind {
	case history.FaultEnd:
		n.end(about, f.Time)
	case history.NodeUp:
		n.leave(about, f.Detail)
	}
}

// observeBare notes a change without a fault.
func (n *faultLog) observeBare(f *fact) {
	switch f.Kind {
	case history.NodeDown:
		n.begin(f, fmt.Sprintf("node %d goes down", f.Node))
	case history.Pause:
		n.begin(f, fmt.Sprintf("client %d is paused", f.Client))
	case history.Kill:
		n.begin(f, fmt.Sprintf("client %d dies", f.Client))
		n.recent[len(n.recent)-1].open = false
	case history.NodeUp, history.Resume:
		n.end(f.subject(), f.Time)
	}
}

// subject names what the event is done to.
func (f *fact) subject() subject {
	switch f.Kind {
	case history.NodeDown, history.NodeUp:
		return subject{history.NodeDown, f.Node}
	case history.Pause, history.Resume:
		return subject{history.Pause, f.Client}
	}
	return subject{f.Kind, f.Fault}
}

func faultText(f *fact) string {
	if f.Detail == "" {
		return fmt.Sprintf("fault %d begins", f.Fault)
	}
	return f.Detail
}

func (n *faultLog) begin(f *fact, text string) {
	if len(n.recent) == maxNotes {
		n.recent = slices.Delete(n.recent, n.oldest(), n.oldest()+1)
	}
	v := loggedFault{about: f.subject(), text: text, from: f.Time, open: true}
	if f.Kind == history.FaultStart {
		v.kind, v.wrong = f.Name, nodeOrClient{f.Node, f.Client}
	}
	n.recent = append(n.recent, v)
}

// onClock lists the faults that may have made the clocks of a machine wrong between two
// instants. A fault of unknown kind may have.
func (n *faultLog) onClock(of nodeOrClient, from, to history.Time) (list []loggedFault) {
	for _, v := range n.recent {
		unnamed := v.about.kind == history.FaultStart && v.kind == ""
		if v.from <= to && (v.wrong == of && v.affects(from) || unnamed) {
			list = append(list, v)
		}
	}
	return list
}

// clones lists the faults that made clients clones. Clones draw the same random numbers.
func (n *faultLog) clones() (list []loggedFault) {
	for _, v := range n.recent {
		if v.kind == "clone" {
			list = append(list, v)
		}
	}
	return list
}

// affects reports whether the fault can make a clock wrong at an instant or later. A clock
// may be corrected slowly after the fault has ended.
func (v loggedFault) affects(from history.Time) bool {
	switch over := v.ended && v.to < from; v.kind {
	case "clock-jump":
		return v.from >= from || v.ended
	case "clock-slew", "suspend":
		return !over
	}
	return true
}

// oldest returns the index of the oldest fault that has ended, or of the oldest of all.
func (n *faultLog) oldest() int {
	return max(0, slices.IndexFunc(n.recent, func(v loggedFault) bool { return !v.open }))
}

func (n *faultLog) end(about subject, at history.Time) {
	if v := n.last(about); v != nil && v.open {
		v.open, v.ended, v.to = false, true, at
	}
}

func (n *faultLog) leave(about subject, how string) {
	if v := n.last(about); v != nil {
		v.left = how
	}
}

func (n *faultLog) last(about subject) *loggedFault {
	for i := len(n.recent) - 1; i >= 0; i-- {
		if n.recent[i].about == about {
			return &n.recent[i]
		}
	}
	return nil
}

// between returns the faults that went on at some time from a to b, as known at b.
func (n *faultLog) between(a, b history.Time) []loggedFault {
	var list []loggedFault
	for _, v := range n.recent {
		if v.from > b || !v.open && v.from < a && v.to < a {
			continue
		}
		if v.ended && v.to > b {
			v.ended, v.left = false, ""
		}
		list = append(list, v)
	}
	return list
}

// clientPause is the last pause of a client.
type clientPause struct {
	ever     bool
	from, to history.Time
}

// since returns the pause if it ended after an instant.
func (s clientPause) since(then history.Time) clientPause {
	if s.to <= then {
		return clientPause{}
	}
	return s
}

func (l *state) faultStart(f *fact, force bool) bool {
	if l.faultLog.going[f.Fault] {
		return force && l.contradict("fault %d begins at %s, and has not ended since it began", f.Fault, textfmt.Instant(f.Time))
	}
	l.faultLog.going[f.Fault] = true
	return true
}

func (l *state) faultEnd(f *fact, force bool) bool {
	if !l.faultLog.going[f.Fault] {
		return force && l.contradict("fault %d ends at %s, but it has not begun", f.Fault, textfmt.Instant(f.Time))
	}
	delete(l.faultLog.going, f.Fault)
	if n := &l.faultLog; len(n.ended) < maxNotes {
		n.ended = append(n.ended, f.Fault)
	}
	return true
}

// untried lists the faults after which no client has begun a try, or was granted a lock, in order: also
// those that go on.
func (n *faultLog) untried() []int {
	all := slices.AppendSeq(slices.Clone(n.ended), maps.Keys(n.going))
	slices.Sort(all)
	return slices.Compact(all)
}
