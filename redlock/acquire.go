package redlock

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// TryLock tries to acquire the resource once. The error wraps [ErrTaken], [ErrNoQuorum],
// [ErrValidity], [ErrNoFence], [ErrClosed] or the error of ctx; without a quorum it is also a
// [*QuorumError]. The keys that a failed try has set, or may still set, are deleted in the
// background, even if ctx has ended.
//
// The hold's context has the values of ctx but does not end with it: ctx limits the acquisition,
// not the work. [Mutex.WithLock] ties the two.
func (m *Mutex) TryLock(ctx context.Context, resource string) (*Hold, error) {
	return m.tryLock(ctx, context.WithoutCancel(ctx), resource)
}

// tryLock tries once. ctx limits the try, base the hold.
func (m *Mutex) tryLock(ctx, base context.Context, resource string) (*Hold, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := m.jobs.beginTry(); err != nil {
		return nil, err
	}
	defer m.jobs.end()
	a := &attempt{mutex: m, resource: resource, longest: m.config.TTL}
	a.token = m.newToken(&a.random)
	hold, err := a.acquire(ctx, base)
	if err != nil {
		a.cleanUp()
		m.observer.Observe(env.Event{Step: env.StepRefused, Resource: resource, Token: a.token, Err: err})
	}
	return hold, err
}

// attempt is one try to acquire, with a token of its own.
type attempt struct {
	mutex    *Mutex
	resource string
	token    string
	random   [tokenBytes]byte // of which the token is made
	set      round            // of SET
	deletion round            // the first that deletes the keys

	// Guarded by mutex.mu.
	longest time.Duration // the longest TTL that its keys were given
	counted env.NodeSet   // nodes whose yes to SET counted; only their yes counts for an extension
	late    stragglerState
}

func (a *attempt) acquire(ctx, base context.Context) (*Hold, error) {
	m, ttl := a.mutex, a.mutex.config.TTL
	event := env.Event{Step: env.StepAcquire, Resource: a.resource, Token: a.token, TTL: ttl}
	m.observer.Observe(event)

	event.Until = validUntil(m.now(), ttl, m.config.allowance(ttl))
	m.observe(event, env.StepBeforeSend)
	weigh := m.voteCounter()
	set := env.Command{Op: env.OpSet, Key: a.resource, Token: a.token, TTL: ttl, Vouched: m.config.Quarantine}
	a.set.send(m, m.all, set, m.config.Linger)
	a.set.weigh = weigh
	votes, err := m.gather(ctx, &a.set, a.set.sent.Add(m.config.NodeTimeout))
	if err != nil && !errors.Is(err, env.ErrTimeout) {
		return nil, err
	}
	if votes.decide() != won {
		return nil, votes.failure()
	}
	m.observe(event, env.StepQuorum)
	if err := m.check(&event); err != nil {
		return nil, err
	}
	if m.config.Fence {
		if event.Fence, err = a.fence(ctx, event.Until); err != nil {
			return nil, err
		}
		if err := m.check(&event); err != nil {
			return nil, err
		}
	}

	a.late.without = a.set.failed | a.set.votes.no
	a.late.unheard = a.set.lost // these have replied, so the drain does not see them
	a.counted = a.set.votes.yes
	hold := newHold(base, a, event.Until, event.Fence)
	a.drainInBackground()
	hold.startWatch()
	m.observe(event, env.StepGranted)
	return hold, nil
}

// check returns an error if the validity has ended.
func (m *Mutex) check(e *env.Event) error {
	m.observe(*e, env.StepBeforeCheck)
	e.Validity = e.Until.Sub(m.now())
	if e.Validity <= 0 {
		return fmt.Errorf("%w: it ended %v ago", ErrValidity, -e.Validity)
	}
	m.observe(*e, env.StepAfterCheck)
	return nil
}

// cleanUp deletes the keys of a failed try on every node, because a node that did not reply may
// have set the key or may still set it. Nodes that are known to have failed get no delete: they
// set no key, and a node that refuses connections would have to refuse another one.
func (a *attempt) cleanUp() {
	m := a.mutex
	a.late.without = a.set.failed | a.set.votes.no
	asked := m.all &^ a.set.failed
	a.abandon(asked, 0)
	keys := a.eraseFirst(asked)
	unheard := a.set.lost // the key may still be set: a broken connection does not mean that the request was lost
	m.background("clean up", func() {
		a.finishFirstDelete(keys)
		a.deleteAfterLinger(unheard)
	})
	a.drainInBackground()
}

// weighExtension counts a yes only from a node whose yes to SET counted. Another node may have
// set the key in a run that has forgotten somebody else's key.
func (a *attempt) weighExtension(r env.Reply) env.Reply {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	if r.Answer != env.Yes || a.counted.Has(r.Node) {
		return r
	}
	return env.Reply{Node: r.Node, Answer: env.Failed, Err: ErrQuarantined}
}

// tokenBytes is the length of a random token.
const tokenBytes = 20

// newToken returns a token for a try, made of random bytes in the memory of the try.
func (m *Mutex) newToken(raw *[tokenBytes]byte) string {
	if m.config.NewToken != nil {
		return m.config.NewToken()
	}
	m.runtime.Random(raw[:])
	var text [2 * tokenBytes]byte
	hex.Encode(text[:], raw[:])
	return string(text[:])
}
