package sequence

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/show/trace"
)

// Diagram is the model of a drawing.
type Diagram struct {
	Anchor string // prefix of its anchor on a page with several diagrams; may be empty

	Finding checker.Finding // that it illustrates

	// Participants have lifelines, from left to right. They are referred to by index. All faults have one lane.
	Participants []trace.Participant

	Messages []Message // in the order in which the client sent or received them
	Events   []Event   // in their order
	Spans    []Span
	Overlap  *Overlap // nil: the finding is not about two holders

	Omissions []Omission // what is left out, in order
	Lines     []Line     // the same as text, in order

	times []history.Time // of all lines of the trace
}

// Point is an instant on a lifeline. Order sorts the points of one instant as the trace
// recorded them. No two recorded points have the same.
type Point struct {
	At    history.Time
	Order int
}

// Message is a request or a reply.
type Message struct {
	From, To int // participants
	Round    int // requests of one round are sent together; 0: no round
	Reply    bool
	Text     string

	// Sent and Received are the ends of the message. One that is not known is equal to the
	// other.
	Sent, Received           Point
	SentKnown, ReceivedKnown bool

	// Lost: nothing shows that the message arrived. Received is equal to Sent.
	Lost  bool
	Fault int // that may have caused the loss; 0: none is known
}

// Emphasis is how an event is shown.
type Emphasis string

// The kinds of emphasis.
const (
	Plain Emphasis = "plain"
	Good  Emphasis = "good" // as desired
	Bad   Emphasis = "bad"  // what the finding is about
	Fault Emphasis = "fault"
)

// Event is something that happened to one participant.
type Event struct {
	At       Point
	Who      int
	Text     string
	Emphasis Emphasis
}

// State is what goes on during a span.
type State string

// The states.
const (
	Holding State = "holding" // a client holds the lock, within its validity
	Overdue State = "overdue" // a client works on past its validity
	Paused  State = "paused"
	Dead    State = "dead" // until the end of the run
	Down    State = "down" // a node does not run
	Key     State = "key"  // a node keeps a key
	Acts    State = "acts" // a fault is active
)

// Span is something that lasted for a time.
type Span struct {
	Who      int
	State    State
	From, To Point
	Owner    int    // number of the client that holds, or whose key it is; 0: none
	Text     string // name of the hold or the fault
	Open     bool   // it has not ended when the run ends
}

// Overlap is the time in which two clients held the lock.
type Overlap struct {
	First, Second int // participants
	From, To      Point
}

// Omission is a part of the run that is left out.
type Omission struct {
	After    int // Order of the last point before it; below 0: none
	From, To history.Time
	Messages int
	Events   int
}

// Line is one event as text.
type Line struct {
	At        Point
	Who, What string
}

// order is the order of a line. It leaves room for a further point after each.
func order(line int) int { return 2 * line }

// line is the line of an order; of none, the first.
func line(order int) int { return max(order, 0) / 2 }

// order is the order of the end that the client observed.
func (m Message) order() int {
	if m.Reply && !m.Lost {
		return m.Received.Order
	}
	return m.Sent.Order
}
