package redlock

import (
	"errors"
	"strconv"

	"github.com/lockstorm/lockstorm/env"
)

// The errors of this package. They are wrapped with details; use errors.Is.
var (
	// ErrConfig means that the configuration or a TTL is invalid. Nothing was sent.
	ErrConfig = errors.New("redlock: impossible setting")
	// ErrTaken means that so many nodes hold another token that no quorum is possible.
	ErrTaken = errors.New("redlock: taken by another holder")
	// ErrNoQuorum means that too few nodes replied in time.
	ErrNoQuorum = errors.New("redlock: no quorum of nodes answered")
	// ErrValidity means that a quorum agreed so late that no validity was left.
	ErrValidity = errors.New("redlock: acquired too late, no validity is left")
	// ErrNoFence means that a quorum agreed but no fence could be drawn.
	ErrNoFence = errors.New("redlock: no fence")
	// ErrQuarantined means that a node restarted too recently for its vote to count, see
	// [Config.Quarantine]. It is the error of a node within a [QuorumError].
	ErrQuarantined = errors.New("the node is in quarantine after a restart")
	// ErrClosed means that the mutex is closed.
	ErrClosed = errors.New("redlock: mutex is closed")

	// ErrLost means that the lock is no longer held: its keys are gone or its validity has
	// ended.
	ErrLost = errors.New("redlock: the lock is lost")
	// ErrExpiring means that the validity ends within the margin. It is a cause of the end of
	// a hold's context.
	ErrExpiring = errors.New("redlock: the validity is about to end")
	// ErrReleased means that the hold has been released. It is a cause of the end of a hold's
	// context.
	ErrReleased = errors.New("redlock: the lock has been released")
	// ErrExtending means that another extension of the same hold is under way.
	ErrExtending = errors.New("redlock: an extension is under way")
)

// QuorumError is the error of an operation without a quorum, with the reply of each node. Use
// errors.As; errors.Is finds Err.
type QuorumError struct {
	// Err is [ErrTaken], [ErrLost] or [ErrNoQuorum].
	Err error

	// Replies has one reply for each node that votes, in order. An Answer of 0 means that the
	// node had not replied when the outcome was certain.
	Replies []env.Reply
}

// Unwrap returns Err.
func (e *QuorumError) Unwrap() error { return e.Err }

// Error counts the nodes that agreed and declined, and gives the reason of each other node.
//
// It does without package fmt because a client that waits for a lock is refused again and again.
func (e *QuorumError) Error() string {
	agreed, declined := int64(0), int64(0)
	for i := range e.Replies {
		switch e.Replies[i].Answer {
		case env.Yes:
			agreed++
		case env.No:
			declined++
		}
	}
	var room [256]byte
	text := append(room[:0], e.Err.Error()...)
	text = appendCount(text, ": of ", int64(len(e.Replies)))
	text = appendCount(text, " nodes ", agreed)
	text = appendCount(text, " agreed and ", declined)
	text = append(text, " declined"...)
	for i := range e.Replies {
		r := &e.Replies[i]
		if r.Answer == env.Yes || r.Answer == env.No {
			continue
		}
		text = appendCount(text, "; node ", int64(r.Node))
		text = append(text, ": "...)
		if r.Err != nil {
			text = append(text, r.Err.Error()...)
		} else {
			text = append(text, "nothing heard"...)
		}
	}
	return string(text)
}

func appendCount(text []byte, words string, n int64) []byte {
	return strconv.AppendInt(append(text, words...), n, 10)
}

// quorumError returns the error of a round that ended with these votes.
func (t *tally) quorumError(cause error) *QuorumError {
	e := &QuorumError{Err: cause, Replies: make([]env.Reply, 0, t.quorum.Voters.Len())}
	for rest := t.quorum.Voters; rest != 0; {
		node := rest.First()
		rest = rest.Without(node)
		e.Replies = append(e.Replies, t.reply(node))
	}
	return e
}

// reply returns the reply of a node.
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

// failure returns the error of a try that was not granted.
func (t *tally) failure() error {
	if t.denied() {
		return t.quorumError(ErrTaken)
	}
	return t.quorumError(ErrNoQuorum)
}
