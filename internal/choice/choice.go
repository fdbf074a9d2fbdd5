// Package choice describes the free choices of a run of a world: how long a message takes, which number is
// drawn, which of several simultaneous events comes first, how many changes a node keeps at a crash. A [Driver]
// makes the choices: from a seed, from a tape, by enumeration (an exploration), or from one seed up to some event
// and from another after it (a branch). The package depends on no world or driver.
package choice

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Driver makes the choices of one run.
type Driver interface {
	// Choose returns the way to take at a point with n ways, from 0 to n-1. If n is 0, there are 2⁶⁴ ways:
	// the way is a random number of 64 bits, and a larger one never means a shorter time (see
	// [nemesis.Range] and [nemesis.Table]).
	Choose(w World, at Point, n uint64) uint64
}

// World is what a driver can ask of the world that it drives.
type World interface {
	// Events returns the number of events so far, including the one that is being handled.
	Events() int

	// Ground returns the time by the ground clock.
	Ground() history.Time

	// State returns the state between two events: from equal states the same choices lead to the same
	// histories. ok is false if the world has no state to compare.
	State() (s State, ok bool)

	// Event describes the event that comes first if the way is taken at the current point of kind [Order].
	Event(way uint64) string
}

// State is a hash of the state of a world, regardless of the order of events at one instant. It has 128 bits,
// so two of a billion states collide with a probability below 10⁻²⁰.
type State [2]uint64

// Grain is the resolution of a run's choices. With the zero value every random number is a point with 2⁶⁴ ways,
// and there are no other points (but those of kind [Next]). If Latencies is not 0, each point has few ways, and
// the orders of simultaneous events and the changes that nodes keep are points too.
type Grain struct {
	// Latencies is the number of latencies that a message can have, evenly spaced over its range; with 1
	// every message has the shortest.
	Latencies int `json:"latencies"`

	// Draws is the number of values, evenly spaced over its range, that a random number can have besides
	// the one from the seed. The one from the seed is way 0, because clients that usually drew equal retry
	// delays would collide again and again.
	Draws int `json:"draws"`

	// EveryOrder lets all events of one instant come in every order. It is needed if a machine can affect
	// another at the same instant: if a message can take no time, a fault begins or ends at a step of a
	// client, or faults draw random numbers. Otherwise only events of the same machine are reordered,
	// because the order of events of different machines makes no difference.
	EveryOrder bool `json:"every_order,omitempty"`
}

// Kind is the kind of a [Point].
type Kind uint8

// The kinds.
const (
	Next    Kind = iota + 1 // whether the run goes on (way 0) or ends; at its begin and before each event, when no client's code runs
	Latency                 // how long a message takes
	Number                  // a random number other than a latency
	Order                   // which of several simultaneous events of one machine comes first
	Kept                    // how many of the changes that may not have reached its disk or replica a node keeps
)

// Point is a point at which a run can go on in several ways.
type Point struct {
	Kind  Kind
	Index int    // counts the points with few ways from 0, but for those of kind Next
	Own   uint64 // the way that the seed takes; at a point with few ways 0, which is the shortest latency

	// For says what is random. Stream and Number (from 1) identify the random number. Clones of a client
	// draw the same numbers of one stream.
	For    Purpose
	Stream uint64
	Number int

	// Latency: the message is between Client and Node, or to or from the guarded resource if these are 0.
	// Number: Client draws it, or, if that is 0, Source, such as "commits of the store". Kept: Node keeps
	// the changes.
	Client, Node int
	Way          nemesis.Direction
	Source       string
}

// Drawn returns the way that a seed takes at a point with n ways.
func Drawn(seed uint64, at Point, n uint64) uint64 {
	if n == 0 {
		return nemesis.Mix(seed, at.Stream, uint64(at.Number-1))
	}
	return nemesis.Mix(seed, uint64(at.Index)) % n
}

// Message identifies a message of a run: the Nth, from 1, in one direction of the link between a client and
// a node.
type Message struct {
	Client int               `json:"client"`
	Node   int               `json:"node"`
	Way    nemesis.Direction `json:"way"`
	Nth    int               `json:"nth"`
}

// Message returns the message whose latency is chosen. ok is false at other points, and for messages to or
// from the guarded resource.
func (p Point) Message() (m Message, ok bool) {
	return Message{p.Client, p.Node, p.Way, p.Number}, p.Kind == Latency && p.Node > 0
}

// String returns text such as "request 3 of client 1 to node 2".
func (m Message) String() string {
	if m.Way == nemesis.Replies {
		return fmt.Sprintf("reply %d of node %d to client %d", m.Nth, m.Node, m.Client)
	}
	return fmt.Sprintf("request %d of client %d to node %d", m.Nth, m.Client, m.Node)
}

// Text describes a way other than the first at the current point, which has n ways, of a world, as in
// "request 3 of client 1 to node 2 takes the longest time".
func (p Point) Text(w World, way, n uint64) string {
	switch p.Kind {
	case Latency:
		what := "a message of the guarded resource"
		if m, ok := p.Message(); ok {
			what = m.String()
		}
		return what + " takes " + rank(way+1, n, "shortest", "longest", "time")
	case Number: // way 0 is the one from the seed
		value := rank(way, n-1, "smallest", "largest", "value")
		if p.Client == 0 {
			return fmt.Sprintf("number %d of the %s is %s", p.Number, p.Source, value)
		}
		return fmt.Sprintf("client %d draws %s, as its number %d", p.Client, value, p.Number)
	case Kept: // way 0 is the one from the seed
		switch lost := n - 1 - way; lost {
		case 0:
			return fmt.Sprintf("node %d loses no change", p.Node)
		case 1:
			return fmt.Sprintf("node %d loses its last change", p.Node)
		default:
			return fmt.Sprintf("node %d loses its last %d changes", p.Node, lost)
		}
	}
	return fmt.Sprintf("at %v, %s comes first, of %d events", w.Ground().Sub(0), w.Event(way), n)
}

// rank names the k-th of n values.
func rank(k, n uint64, first, last, value string) string {
	switch k {
	case 1:
		return "the " + first + " " + value
	case n:
		return "the " + last + " " + value
	}
	return fmt.Sprintf("%s %d of %d", value, k, n)
}
