package checker

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// notes remembers what was done to the world, so that the story of a
// violation can tell it.
type notes struct {
	recent  []note
	instant []note // what an instant brings, until its faults are known
	now     history.Time
}

// note is one thing that was done, from when to when.
type note struct {
	text  string
	from  history.Time
	to    history.Time
	open  bool // it goes on
	ended bool // it is over; of what takes no time neither is true
	fault int  // its number in the plan, or 0
	ends  what // what an event without a fault takes back
}

// what names the subject of a note that is not of a fault.
type what struct {
	kind   history.Kind // that begins it
	number int          // of the client or node
}

// maxNotes bounds the notes that are kept; of those, what still goes on is
// kept longest.
const maxNotes = 64

func (n *notes) observe(f *fact) {
	n.now = f.Time
	switch f.Kind {
	case history.FaultStart:
		n.add(note{text: faultText(f), from: f.Time, open: true, fault: f.Fault})
	case history.FaultEnd:
		n.end(func(v *note) bool { return v.fault == f.Fault }, f.Time)
	case history.Pause:
		n.suspect(note{text: fmt.Sprintf("client %d is paused", f.Client), from: f.Time, open: true, ends: what{history.Pause, f.Client}})
	case history.Resume:
		n.end(func(v *note) bool { return v.ends == what{history.Pause, f.Client} }, f.Time)
	case history.NodeDown:
		n.suspect(note{text: fmt.Sprintf("node %d goes down", f.Node), from: f.Time, open: true, ends: what{history.NodeDown, f.Node}})
	case history.NodeUp:
		n.end(func(v *note) bool { return v.ends == what{history.NodeDown, f.Node} }, f.Time)
	case history.Kill:
		n.suspect(note{text: fmt.Sprintf("client %d dies", f.Client), from: f.Time})
	}
}

func faultText(f *fact) string {
	if f.Detail == "" {
		return fmt.Sprintf("fault %d begins", f.Fault)
	}
	return f.Detail
}

func (n *notes) suspect(v note) { n.instant = append(n.instant, v) }

// settle keeps what the instant brought, except for what a fault that began
// in the same instant tells better.
func (n *notes) settle() {
	if len(n.instant) == 0 {
		return
	}
	told := false
	for i := range n.recent {
		told = told || n.recent[i].fault != 0 && n.recent[i].from == n.now
	}
	for _, v := range n.instant {
		if !told {
			n.add(v)
		}
	}
	n.instant = n.instant[:0]
}

func (n *notes) add(v note) {
	if len(n.recent) == maxNotes {
		n.recent = remove(n.recent, n.recent[n.oldest()])
	}
	n.recent = append(n.recent, v)
}

func (n *notes) oldest() int {
	for i := range n.recent {
		if !n.recent[i].open {
			return i
		}
	}
	return 0
}

func (n *notes) end(about func(*note) bool, at history.Time) {
	for _, list := range [][]note{n.instant, n.recent} {
		for i := range list {
			if v := &list[i]; v.open && about(v) {
				v.open, v.ended, v.to = false, true, at
			}
		}
	}
}

// between returns what went on in some part of the time from a to b, as it
// was known at b.
func (n *notes) between(a, b history.Time) []note {
	var list []note
	for _, v := range n.recent {
		if v.from > b || !v.open && v.from < a && v.to < a {
			continue
		}
		if v.ended && v.to > b {
			v.ended = false
		}
		list = append(list, v)
	}
	return list
}

func (v note) String() string {
	text := fmt.Sprintf("%s at %s", v.text, at(v.from))
	switch {
	case !v.ended:
		return text
	case v.to == v.from:
		return text + ", over at once"
	}
	return text + ", until " + at(v.to)
}

// tell tells the notes that begin at or before a time, or those after it.
func tell(list []note, limit history.Time, after bool) string {
	var told []string
	for _, v := range list {
		if v.from > limit == after {
			told = append(told, v.String())
		}
	}
	return strings.Join(told, "; ")
}
