// Package choice describes the free choices of a run of a world, and lets a [Driver] make them: how long a
// message takes, which number is drawn, which of several simultaneous events comes first, how many changes a
// node keeps at a crash. A seed draws them, a tape plays them, an exploration enumerates them, and a branch
// hands them from one seed to another. The package knows neither worlds nor drivers.
package choice

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Driver makes the choices of one run.
type Driver interface {
	// Choose returns the way on at a point with n ways: from 0 to n-1. If n is 0, there are 2⁶⁴ ways: the
	// way is 64 random bits, and [nemesis.Range] and [nemesis.Table] map more bits to a longer time.
	Choose(w World, at Point, n uint64) uint64
}

// World is what a driver can ask of the world that it drives.
type World interface {
	// Events returns the number of events so far, with the one that is being handled.
	Events() int

	// Ground returns what the ground clock shows.
	Ground() history.Time

	// State returns the state between two events: from equal states the same choices lead to the same
	// histories. ok is false if the world cannot tell.
	State() (s State, ok bool)

	// Event says in words which event is a way of a point of order.
	Event(way uint64) string
}

// State identifies the state of a world, up to the order of events at one instant. It is a hash of 128 bits,
// so among a billion states two are mixed up with a probability below 10⁻²⁰.
type State [2]uint64

// Grain says how fine the choices of a run are. With the zero value every random number is a point with 2⁶⁴
// ways, and all else follows from these numbers.
type Grain struct {
	// Latencies is the number of latencies from which that of a message is chosen, evenly spaced over its
	// range: 1 is the shortest. Unless it is 0, each point has few ways. The orders of simultaneous events
	// are then points, and so are the changes that nodes keep.
	Latencies int `json:"latencies"`

	// Draws is the number of values, evenly spaced over a range, that can be drawn from it beside the one
	// that follows from the seed. If that were not the usual one, clients would draw equal retry delays
	// again and again.
	Draws int `json:"draws"`

	// EveryOrder lets the events of one instant come in every order. It is needed if something that a
	// machine does can have an effect on another at the same instant: if a message can take no time, a
	// fault begins or ends at a step of a client, or faults draw random numbers. Otherwise the order of
	// the events of one machine is enough, because all orders of the others lead to the same world.
	EveryOrder bool `json:"every_order,omitempty"`
}

// Kind is the kind of a [Point].
type Kind uint8

// The kinds.
const (
	Next    Kind = iota + 1 // whether the run goes on, way 0, or ends: at its begin and before each event, while the code of all clients waits
	Latency                 // how long a message takes
	Number                  // a random number other than a latency
	Order                   // which of several simultaneous events of one machine comes first
	Kept                    // how many changes a node keeps that have perhaps not come to its disk or replica
)

// Point is a point at which a run can go on in several ways.
type Point struct {
	Kind  Kind
	Index int    // from 0, of the points of the run but for those of kind Next
	Own   uint64 // the way that follows from the seed. Of few ways it is 0; a latency is then the shortest

	// For is what is random, and Stream and Number (from 1) say which random number it is. Clones of a
	// client draw the same numbers of one stream.
	For    Purpose
	Stream uint64
	Number int

	// A latency is that of a message between Client and Node; if these are 0, of one of the guarded
	// resource. Another number is drawn by Client or by Source, such as "commits of the store". Changes
	// are kept by Node.
	Client, Node int
	Way          nemesis.Direction
	Source       string
}

// Drawn returns the way that a seed draws at a point with n ways.
func Drawn(seed uint64, at Point, n uint64) uint64 {
	if n == 0 {
		return nemesis.Mix(seed, at.Stream, uint64(at.Number-1))
	}
	return nemesis.Mix(seed, uint64(at.Index)) % n
}

// Message is a message of a run: number Nth, from 1, of one direction of the link between a client and
// a node.
type Message struct {
	Client int               `json:"client"`
	Node   int               `json:"node"`
	Way    nemesis.Direction `json:"way"`
	Nth    int               `json:"nth"`
}

// Message returns the message whose latency is chosen. ok is false at other points and for messages of the
// guarded resource.
func (p Point) Message() (m Message, ok bool) {
	return Message{p.Client, p.Node, p.Way, p.Number}, p.Kind == Latency && p.Node > 0
}

// String prints as in "request 3 of client 1 to node 2".
func (m Message) String() string {
	if m.Way == nemesis.Replies {
		return fmt.Sprintf("reply %d of node %d to client %d", m.Nth, m.Node, m.Client)
	}
	return fmt.Sprintf("request %d of client %d to node %d", m.Nth, m.Client, m.Node)
}

// Text says what a way other than the first means, of a point with n ways that a world is at, as in
// "request 3 of client 1 to node 2 takes the longest time".
func (p Point) Text(w World, way, n uint64) string {
	switch p.Kind {
	case Latency:
		what := "a message of the guarded resource"
		if m, ok := p.Message(); ok {
			what = m.String()
		}
		return what + " takes " + rank(way+1, n, "shortest", "longest", "time")
	case Number: // way 0 is a random one
		value := rank(way, n-1, "smallest", "largest", "value")
		if p.Client == 0 {
			return fmt.Sprintf("number %d of the %s is %s", p.Number, p.Source, value)
		}
		return fmt.Sprintf("client %d draws %s, as its number %d", p.Client, value, p.Number)
	case Kept: // likewise
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
