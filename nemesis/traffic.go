package nemesis

import (
	"time"
)

// Traffic is an action that only affects messages between clients and nodes. Its
// rule belongs to no world, so a backend that injects one such kind injects all of
// them, future kinds included.
type Traffic interface {
	Action
	// Over lists the links that the fault affects, none twice, and in which
	// direction.
	Over(s Setting) (links []Links, way Direction)
	// Rule says what happens to messages on those links. draw returns random bits
	// from the fault's own stream.
	Rule(draw func() uint64) Rule
}

// Rule says what a fault does to each message that it affects. Its functions depend
// only on the message and on the draws of the fault, and must be safe for concurrent
// use.
type Rule struct {
	// Delay returns how much longer the message takes, at least 0. It is called
	// once, when the message is sent. nil: no message takes longer.
	Delay func(m Message) time.Duration
	// Holds reports whether the message is held back, just before it arrives,
	// until the fault ends. nil: no message is.
	Holds func(m Message) bool
}

// Message is what a rule knows about a message between a client and a node.
type Message struct {
	Client, Node int
	Way          Direction // Requests or Replies
	Key          string    // of the command, or of the command it replies to; "" if there is none or the world does not know it
}

// delayBy returns the rule that delays every message.
func delayBy(by Distribution, draw func() uint64) Rule {
	table := by.Table()
	return Rule{Delay: func(Message) time.Duration { return table.Draw(draw()) }}
}

// HoldAll returns the rule that holds every message until the fault ends.
func HoldAll() Rule { return Rule{Holds: func(Message) bool { return true }} }
