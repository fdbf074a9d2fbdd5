package redlock

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/env"
)

// What callers branch on. Errors are wrapped with their circumstances; use
// errors.Is.
var (
	// ErrConfig: the configuration or a TTL cannot be. Nothing was sent.
	ErrConfig = errors.New("redlock: impossible setting")
	// ErrTaken: so many nodes hold another token that no quorum was left.
	ErrTaken = errors.New("redlock: taken by another holder")
	// ErrNoQuorum: too few nodes answered in time.
	ErrNoQuorum = errors.New("redlock: no quorum of nodes answered")
	// ErrValidity: a quorum agreed, but so late that no validity was left.
	ErrValidity = errors.New("redlock: acquired too late, no validity is left")
	// ErrNoFence: a quorum agreed, but no fence could be drawn.
	ErrNoFence = errors.New("redlock: no fence")
	// ErrQuarantined: a node had restarted too recently for its vote to count,
	// see [Config.Quarantine]. Why a node failed, in a [QuorumError].
	ErrQuarantined = errors.New("the node is in quarantine after a restart")
	// ErrClosed: the mutex has been closed.
	ErrClosed = errors.New("redlock: mutex is closed")

	// ErrLost: the lock is held no more: its keys have gone, or its validity
	// has ended.
	ErrLost = errors.New("redlock: the lock is lost")
	// ErrExpiring: the validity ends within the margin. The cause of a hold's
	// context.
	ErrExpiring = errors.New("redlock: the validity is about to end")
	// ErrReleased: the hold has been released. The cause of a hold's context.
	ErrReleased = errors.New("redlock: the lock has been released")
	// ErrExtending: another extension of the same hold is under way.
	ErrExtending = errors.New("redlock: an extension is under way")
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
