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

	// Replies holds a reply for each node, in the order of the nodes. Where the
	// Answer is 0 the node had not been heard of when it was decided.
	Replies []env.Reply
}

// Unwrap returns Err.
func (e *QuorumError) Unwrap() error { return e.Err }

// Error counts the answers, and says of nodes that failed, or whose answer is
// lost, why.
func (e *QuorumError) Error() string {
	var counts [env.Lost + 1]int
	var failures strings.Builder
	for _, r := range e.Replies {
		counts[r.Answer]++
		if r.Err != nil {
			fmt.Fprintf(&failures, "; node %d: %v", r.Node, r.Err)
		}
	}
	return fmt.Sprintf("%v: of %d nodes %d agreed, %d declined, %d failed, %d did not answer and %d were not waited for%s",
		e.Err, len(e.Replies), counts[env.Yes], counts[env.No], counts[env.Failed], counts[env.Lost], counts[0], failures.String())
}

// quorumError returns the error of a round that ended with these votes.
func (t *tally) quorumError(cause error) *QuorumError {
	e := &QuorumError{Err: cause, Replies: make([]env.Reply, t.nodes)}
	for i := range e.Replies {
		r := &e.Replies[i]
		r.Node = i + 1
		switch {
		case t.yes.Has(r.Node):
			r.Answer = env.Yes
		case t.no.Has(r.Node):
			r.Answer = env.No
		}
	}
	for _, r := range t.failures {
		e.Replies[r.Node-1] = r
	}
	return e
}

// failure is the error of a try that was not granted.
func (t *tally) failure() error {
	if t.denied() {
		return t.quorumError(ErrTaken)
	}
	return t.quorumError(ErrNoQuorum)
}
