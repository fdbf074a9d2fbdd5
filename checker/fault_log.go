package checker

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// faultLog remembers what was done to the world, so that the story of a
// violation can tell it. What a fault of the plan brings about is told by the
// fault; what comes about without one is told by itself.
type faultLog struct {
	recent []loggedFault
}

// loggedFault is one thing that was done, from when to when.
type loggedFault struct {
	about subject
	text  string
	from  history.Time
	to    history.Time
	open  bool   // it goes on
	ended bool   // it is over; of what takes no time neither is true
	left  string // in which state it left its subject

	kind  string       // of a fault; "": the history does not say
	wrong nodeOrClient // whose clock it makes wrong, if any
}

// nodeOrClient is a machine, which has clocks.
type nodeOrClient struct{ node, client int }

// subject is a fault of the plan, or else a client or node to which something
// was done.
type subject struct {
	kind   history.Kind // that begins it
	number int
}

// none reports whether nothing was done to the world.
func (n *faultLog) none() bool { return len(n.recent) == 0 }

// maxNotes bounds the notes that are kept; of those, what still goes on is
// kept longest.
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

// observeBare notes what no fault tells.
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

// onClock tells what can have made the clocks of a machine wrong between two instants. A
// fault of which the history does not say what it is may have been that.
func (n *faultLog) onClock(of nodeOrClient, from, to history.Time) (told []Statement) {
	for _, v := range n.recent {
		unnamed := v.about.kind == history.FaultStart && v.kind == ""
		if v.from <= to && (v.wrong == of && v.affects(from) || unnamed) {
			told = append(told, v.statement())
		}
	}
	return told
}

// clones tells what has made clients copies of each other, whose random numbers are the same
// from then on.
func (n *faultLog) clones() (told []Statement) {
	for _, v := range n.recent {
		if v.kind == "clone" {
			told = append(told, v.statement())
		}
	}
	return told
}

// affects reports whether the fault can still make a clock go wrong at an instant, or
// after it. What a clock has gone wrong by can heal slowly when the fault is over.
func (v loggedFault) affects(from history.Time) bool {
	switch over := v.ended && v.to < from; v.kind {
	case "clock-jump":
		return v.from >= from || v.ended
	case "clock-slew", "suspend":
		return !over
	}
	return true
}

// oldest returns the place of the oldest note of what is over, or else of the
// oldest of all.
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

// between returns what went on in some part of the time from a to b, as it
// was known at b.
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

// statement tells the note.
func (v loggedFault) statement() Statement {
	s := Statement{Kind: FaultInjected, Detail: v.text, At: v.from, Left: v.left, More: v.ended}
	if v.ended {
		s.To = v.to
	}
	return s
}

// after returns those of a list, which is in the order of time, that begin after an instant.
func after(list []loggedFault, limit history.Time) []loggedFault {
	if i := slices.IndexFunc(list, func(v loggedFault) bool { return v.from > limit }); i >= 0 {
		return list[i:]
	}
	return nil
}

// statementsOf tells the notes that begin at or before a time, or those after it.
func statementsOf(list []loggedFault, limit history.Time, after bool) (told []Statement) {
	for _, v := range list {
		if v.from > limit == after {
			told = append(told, v.statement())
		}
	}
	return told
}
