package nemesis

import "time"

// Traffic is an action that does nothing but to messages between clients and
// nodes, and says what in terms that belong to no world. A backend that carries
// out one such kind carries out all, those to come as well.
type Traffic interface {
	Action
	// Over lists the links that the fault takes hold of, none twice, and which
	// way of them is meant.
	Over(s Setting) (links []Links, way Direction)
	// Rule says what becomes of the messages on those links. draw gives random
	// bits from a stream of the fault's own.
	Rule(draw func() uint64) Rule
}

// Rule is what a fault does to each message that comes under it. Its functions
// depend on nothing but the message and the draws of the fault, and may be called
// by several goroutines at a time.
type Rule struct {
	// Delay says how much longer the message takes, at least 0. It is asked
	// once, when the message sets out. nil: no message takes longer.
	Delay func(m Message) time.Duration
	// Holds reports whether the message, when it comes to the end of its way,
	// is held back until the fault ends. nil: none is.
	Holds func(m Message) bool
}

// Message is what a rule is told of a message between a client and a node.
type Message struct {
	Client, Node int
	Way          Direction // Requests or Replies
	Key          string    // of the command, or of the one that is answered; "": it has none, or the world cannot tell
}

// slower is the rule that all messages take longer.
func slower(by Distribution, draw func() uint64) Rule {
	table := by.Table()
	return Rule{Delay: func(Message) time.Duration { return table.Draw(draw()) }}
}

// Silence is the rule that no message arrives while the fault lasts.
func Silence() Rule { return Rule{Holds: func(Message) bool { return true }} }
