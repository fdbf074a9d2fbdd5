package redlock

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/env"
)

// QuorumError is an operation that found no quorum, with what each node made of
// it. Use errors.As; errors.Is finds Err.
type QuorumError struct {
	// Err is [ErrTaken], [ErrLost] or [ErrNoQuorum].
	Err error

	// Replies holds a reply for each node that votes, in the order of the nodes. Where the
	// Answer is 0 the node had not been heard of when it was decided.
	Replies []env.Reply
}

// Unwrap returns Err.
func (e *QuorumError) Unwrap() error { return e.Err }

// Error counts the nodes that agreed and declined, and says of each other one why
// it did neither.
func (e *QuorumError) Error() string {
	agreed, declined := 0, 0
	var others strings.Builder
	for _, r := range e.Replies {
		switch {
		case r.Answer == env.Yes:
			agreed++
		case r.Answer == env.No:
			declined++
		case r.Err != nil:
			fmt.Fprintf(&others, "; node %d: %v", r.Node, r.Err)
		default:
			fmt.Fprintf(&others, "; node %d: nothing heard", r.Node)
		}
	}
	return fmt.Sprintf("%v: of %d nodes %d agreed and %d declined%s", e.Err, len(e.Replies), agreed, declined, others.String())
}

// quorumError returns the error of a round that ended with these votes.
func (t *tally) quorumError(cause error) *QuorumError {
	e := &QuorumError{Err: cause, Replies: make([]env.Reply, 0, t.quorum.Voters.Len())}
	for _, node := range t.quorum.Voters.List() {
		e.Replies = append(e.Replies, t.reply(node))
	}
	return e
}

// reply is what a node has made of the round.
func (t *tally) reply(node int) env.Reply {
	switch {
	case t.yes.Has(node):
		return env.Reply{Node: node, Answer: env.Yes}
	case t.no.Has(node):
		return env.Reply{Node: node, Answer: env.No}
	}
	for _, r := range t.failures {
		if r.Node == node {
			return r
		}
	}
	return env.Reply{Node: node}
}

// failure is the error of a try that was not granted.
func (t *tally) failure() error {
	if t.denied() {
		return t.quorumError(ErrTaken)
	}
	return t.quorumError(ErrNoQuorum)
}
