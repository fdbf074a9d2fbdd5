package checker

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// faultLog keeps what was done to the world, for findings. An effect of a planned fault is
// described by that fault; anything else by itself.
type faultLog struct {
	recent []loggedFault
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

	kind  nemesis.Kind // of the fault; "": the history does not say
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
		v.kind, v.wrong = nemesis.Kind(f.Name), nodeOrClient{f.Node, f.Client}
	}
	n.recent = append(n.recent, v)
}

// onClock lists the faults that may have made the clocks of a machine wrong between two
// instants. A fault of unknown kind may have.
func (n *faultLog) onClock(of nodeOrClient, from, to history.Time) (told []Event) {
	for _, v := range n.recent {
		unnamed := v.about.kind == history.FaultStart && v.kind == ""
		if v.from <= to && (v.wrong == of && v.affects(from) || unnamed) {
			told = append(told, v.event())
		}
	}
	return told
}

// clones lists the faults that made clients clones. Clones draw the same random numbers.
func (n *faultLog) clones() (told []Event) {
	for _, v := range n.recent {
		if v.kind.Does(nemesis.Clones) {
			told = append(told, v.event())
		}
	}
	return told
}

// affects reports whether the fault can make a clock wrong at an instant or later. A clock
// may be corrected slowly after the fault has ended.
func (v loggedFault) affects(from history.Time) bool {
	switch {
	case v.kind.Does(nemesis.StepsClock):
		return v.from >= from || v.ended
	case v.kind.Does(nemesis.SettlesClock):
		return !v.ended || v.to >= from
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

// event describes the fault.
func (v loggedFault) event() Event {
	e := Event{Role: RoleFault, From: v.from, Client: v.wrong.client, Nodes: oneNode(v.wrong.node)}
	text, back := fmt.Sprintf("%s at %s", v.text, at(v.from)), ""
	if v.left != "" {
		back = " and is back " + v.left
	}
	if !v.ended {
		return e.say("%s", text)
	}
	e.To = v.to
	switch {
	case v.to == v.from:
		return e.say("%s%s at once", text, back)
	case back != "":
		return e.say("%s%s at %s", text, back, at(v.to))
	}
	return e.say("%s, until %s", text, at(v.to))
}

// after returns the faults of an ordered list that begin after an instant.
func after(list []loggedFault, limit history.Time) []loggedFault {
	if i := slices.IndexFunc(list, func(v loggedFault) bool { return v.from > limit }); i >= 0 {
		return list[i:]
	}
	return nil
}

// eventsOf describes the faults of a list that begin up to a limit, or after it.
func eventsOf(list []loggedFault, limit history.Time, after bool) (told []Event) {
	for _, v := range list {
		if v.from > limit == after {
			told = append(told, v.event())
		}
	}
	return told
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

// of describes the pause of a client, if there was one.
func (s clientPause) of(client int) []Event {
	e := Event{Role: RoleFault, From: s.from, Client: client}
	switch {
	case !s.ever:
		return nil
	case s.to == forever:
		return []Event{e.say("client %d stood still from %s on", client, at(s.from))}
	}
	e.To = s.to
	return []Event{e.say("client %d stood still from %s to %s", client, at(s.from), at(s.to))}
}
