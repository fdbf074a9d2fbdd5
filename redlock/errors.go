package redlock

import "errors"

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
