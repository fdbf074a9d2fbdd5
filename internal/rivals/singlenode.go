package rivals

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// NewSingleNode returns the right lock on one node, as the page of the command SET
// on redis.io has it: SET NX PX with a token that nobody else can have; a script
// deletes the key if it holds the token, and another extends it.
//
// It excludes as long as the node keeps its keys and clocks behave. With the node
// the lock is gone, and what the node forgets, another is granted: after a restart
// without an append-only file, or when a replica takes its place that had not
// heard of the key yet. ([redis.io on distributed locks] therefore asks several
// nodes.)
//
// A key that is set, or may be set, by a try that fails is deleted in the
// background; as is that of a release without an answer.
//
// [redis.io on distributed locks]: https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/
func NewSingleNode(c Config, p Ports) (*Mutex, error) { return newMutex(c, p, singleNode{}) }

type singleNode struct{}

func (singleNode) acquire(ctx context.Context, a *attempt) error { return a.setForTTL(ctx) }

func (singleNode) abandon(a *attempt) {
	if a.mayBeSet() {
		a.eraseInBackground()
	}
}

func (singleNode) extend(ctx context.Context, h *Hold, ttl time.Duration) (env.Instant, error) {
	until := h.mutex.validUntil(ttl)
	r := h.hearNode(ctx, env.Command{Op: env.OpExtend, TTL: ttl})
	err := outcome(r, ErrLost)
	if r.Answer == env.No {
		h.lose(err)
	}
	return until, err
}

func (singleNode) release(ctx context.Context, h *Hold) (env.Answer, error) {
	r := h.hearNode(ctx, env.Command{Op: env.OpDelete})
	if r.Answer == env.Failed || r.Answer == env.Lost {
		h.eraseInBackground()
	}
	return releaseOutcome(r)
}

// eraseInBackground deletes the token's key, and asks again, less and less often,
// until the node says that it has done so or the key has expired. That there is
// none is an answer only if the key is known to have been set: otherwise it may
// still come. One that comes even after its time to live is left to the next.
func (a *attempt) eraseInBackground() {
	m := a.mutex
	expired := m.mono().Add(m.config.TTL)
	m.Runtime.Go("erase", func() {
		for wait := m.config.NodeTimeout; ; wait *= 2 {
			r := a.askNode(context.Background(), env.Command{Op: env.OpDelete})
			if r.Answer == env.Yes || r.Answer == env.No && a.said == env.Yes || m.mono().Add(wait) >= expired {
				return
			}
			_ = m.Runtime.Sleep(context.Background(), m.mono().Add(wait))
		}
	})
}
