package sequence

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Diagram is what is drawn.
type Diagram struct {
	Finding checker.Finding // what it is drawn for

	Participants []Participant // from left to right; others name them by their index
	Messages     []Message     // in the order in which they were sent, or came back
	Events       []Event       // in their order
	Spans        []Span
	Overlap      *Overlap // nil: no two holders are what the finding is about

	Cuts  []Cut  // what is left out, in its order
	Lines []Line // everything as text, in its order
}

// Role is what a participant is. Participants come in the order of their roles.
type Role int

// The roles.
const (
	Faults Role = iota + 1 // no participant: the lane of the faults
	Client
	Store // of a lock that is not kept by nodes
	Node
	Resource // the guarded one
)

// Participant has a lifeline.
type Participant struct {
	Role   Role
	Number int // of a client or node; 0 of others
	Name   string
}

// Point is an instant on a lifeline. Of what happens in one instant, what has the lower
// Order was heard first; no two things that were heard have the same.
type Point struct {
	At    history.Time
	Order int
}

// Message is a request or the reply to one.
type Message struct {
	From, To int // participants
	Round    int // requests of one round are sent as one; 0: it is none of a round
	Reply    bool
	Text     string

	// Sent is when it left, Came when it came. Where the instant is not Known, it is
	// that of the other end.
	Sent, Came           Point
	SentKnown, CameKnown bool

	// Lost says that nobody has heard that it came: Came is that of the other end.
	Lost  bool
	Fault int // that may have been why; 0: none is known
}

// Mood is how an event is shown.
type Mood string

// The moods.
const (
	Plain Mood = "plain"
	Good  Mood = "good" // what was wanted
	Bad   Mood = "bad"  // what the finding is about
	Fault Mood = "fault"
)

// Event is something that happened to one participant.
type Event struct {
	At   Point
	Who  int
	Text string
	Mood Mood
}

// State is what goes on in a span.
type State string

// The states.
const (
	Holding State = "holding" // a client holds, and its validity lasts
	Overdue State = "overdue" // it has not been told that its validity is over
	Paused  State = "paused"
	Dead    State = "dead" // to the end
	Down    State = "down" // of a node
	Key     State = "key"  // a node keeps a key
	Acts    State = "acts" // of a fault
)

// Span is something that went on for a time.
type Span struct {
	Who      int
	State    State
	From, To Point
	Owner    int    // the number of the client that holds, or whose key it is; 0: nobody's
	Text     string // the name of the hold or of the fault
	Open     bool   // it goes on where the run ends
}

// Overlap is when two held at once.
type Overlap struct {
	First, Second int // participants
	From, To      Point
}

// Cut is something that is left out.
type Cut struct {
	After    int // the Order of the last that is shown before it; below 0: none is
	From, To history.Time
	Messages int
	Events   int
}

// Line is one thing that happened, in words.
type Line struct {
	At        Point
	Who, What string
}
