package checker

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Event is one thing that a finding says: data, and a sentence about it. Whoever finds it writes the
// sentence; readers print it, and take what they need to know from the other fields. A field that
// is left out does not apply or is not known.
type Event struct {
	Role Role         `json:"role"`           // what the event has to do with the verdict
	From history.Time `json:"from,omitempty"` // when it happened or began
	To   history.Time `json:"to,omitempty"`   // when it ended, if it took time

	Client   int        `json:"client,omitempty"`   // who did it, or whom it happened to
	Nodes    []NodeTime `json:"nodes,omitempty"`    // the nodes that it happened to
	Resource string     `json:"resource,omitempty"` // what is locked
	Token    string     `json:"token,omitempty"`    // of the acquisition

	Text string `json:"text"` // the sentence, without a capital letter and a full stop
}

// NodeTime is a node, and when something happened to it.
type NodeTime struct {
	Node int          `json:"node"`         // its number
	At   history.Time `json:"at,omitempty"` // when it happened to this node, if not as the event says
}

// Role says what an event has to do with the verdict.
type Role string

// The roles.
const (
	RoleFault        Role = "fault"         // something was done to the world, or a clock went wrong; or nothing was
	RoleAccess       Role = "access"        // a client used the lock, or what it guards
	RoleOverlap      Role = "overlap"       // two clients had the lock at once, or their sections or fences have no order
	RoleLoss         Role = "loss"          // a node, or the store, lost a key, kept it for too long, or did not have it
	RoleWait         Role = "wait"          // a client waited, or was refused
	RoleNotExercised Role = "not exercised" // nothing happened that could have violated the property
	RoleUnseen       Role = "unseen"        // the history does not show what would decide
)

// say adds the sentence.
func (e Event) say(format string, args ...any) Event {
	e.Text = fmt.Sprintf(format, args...)
	return e
}

// between adds two instants, in whatever order.
func (e Event) between(a, b history.Time) Event {
	e.From, e.To = min(a, b), max(a, b)
	return e
}

// because returns a finding with what its verdict rests on.
func because(v Verdict, events ...Event) Finding { return Finding{Verdict: v, Events: events} }

// Why a verdict is not applicable, or unknown, of several properties.
const (
	noBound       = "no bound is stated"
	keepsNothing  = "the lock keeps nothing on the nodes"
	noKeys        = "the history does not record the nodes' keys"
	keysUnseen    = "the watch of the nodes' keys has not reported enough"
	entriesUnseen = "the watch of the store's entries has not reported enough"
)

// notExercised returns the finding about a property that the history cannot violate.
func notExercised(v Verdict, why string) Finding {
	return because(v, Event{Role: RoleNotExercised, Text: why})
}

// unseen returns the finding about a property for which the history has too little.
func unseen(why string) Finding { return because(Unknown, Event{Role: RoleUnseen, Text: why}) }

// oneNode is the node of an event, if it has a number.
func oneNode(n int) []NodeTime { return node(n).listed(nil) }

// listed lists a set of nodes, with when something happened to them.
func (s nodes) listed(when func(node int) history.Time) (list []NodeTime) {
	for rest := s; rest != 0; rest = rest.without(rest.first()) {
		n := NodeTime{Node: rest.first()}
		if when != nil {
			n.At = when(n.Node)
		}
		list = append(list, n)
	}
	return list
}

// times says when something happened to nodes: of two nodes the time of each, in the order in
// which they are named, of more the first and the last. Times that are hardly apart are one.
func times(list []NodeTime) string {
	first, last := list[0].At, list[0].At
	for _, n := range list {
		first, last = min(first, n.At), max(last, n.At)
	}
	switch {
	case last.Sub(first) <= noticeable:
		return "at " + at(last)
	case len(list) == 2:
		return fmt.Sprintf("at %s and %s", at(list[0].At), at(list[1].At))
	}
	return fmt.Sprintf("between %s and %s", at(first), at(last))
}

// setOf is the set of some nodes.
func setOf(list []NodeTime) (s nodes) {
	for _, n := range list {
		s = s.with(n.Node)
	}
	return s
}

// at prints an instant for a person, to four digits or so.
func at(t history.Time) string { return span4(time.Duration(t)) }

// span4 prints a duration for a person, to four digits or so.
func span4(d time.Duration) string {
	for unit := 10 * time.Millisecond; unit > 1; unit /= 10 {
		if d.Abs() >= 1000*unit {
			return d.Round(unit).String()
		}
	}
	return d.String()
}

// short is as much of a token as a person compares.
func short(token string) string { return textfmt.Token(token) }

// quoted is as much of the name of a resource as a line has room for.
func quoted(resource string) string { return fmt.Sprintf("%q", textfmt.Name(resource)) }

// lockOf names a resource and a token.
func lockOf(resource, token string) string {
	return fmt.Sprintf("%s (token %s)", quoted(resource), short(token))
}

// clientOrSome names a client; 0: not known.
func clientOrSome(number int) string {
	if number == 0 {
		return "a client"
	}
	return fmt.Sprintf("client %d", number)
}

// counted prints a number of things.
func counted(n int, thing string) string {
	if n == 0 {
		return "no " + thing
	}
	return textfmt.Count(n, thing)
}
