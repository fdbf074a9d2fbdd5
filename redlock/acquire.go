package redlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// TryLock tries to acquire the resource once. The error is, or wraps,
// [ErrTaken], [ErrNoQuorum], [ErrValidity], [ErrNoFence], [ErrClosed] or the error of
// ctx; where no quorum was found it is a [*QuorumError] too. The keys that a failed try has
// set, or may still set, are deleted in the background, whether or not ctx has
// ended.
//
// The hold's context has the values of ctx and not its end: ctx limits the
// acquisition, not the work. [Mutex.WithLock] ties the two.
func (m *Mutex) TryLock(ctx context.Context, resource string) (*Hold, error) {
	return m.tryLock(ctx, context.WithoutCancel(ctx), resource)
}

// tryLock tries once. ctx limits the try, and base the hold.
func (m *Mutex) tryLock(ctx, base context.Context, resource string) (*Hold, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	try, err := m.beginTry()
	if err != nil {
		return nil, err
	}
	defer m.end(try)
	a := &attempt{mutex: m, resource: resource, token: m.newToken()}
	hold, err := a.acquire(ctx, base)
	if err != nil {
		a.cleanUp()
		m.observer.Observe(env.Event{Step: env.StepRefused, Resource: resource, Token: a.token, Err: err})
	}
	return hold, err
}

// attempt is one try to acquire, with the token that it alone uses.
type attempt struct {
	mutex    *Mutex
	resource string
	token    string
	round    *round

	// Guarded by mutex.mu.
	longest time.Duration // life that its keys were given
	counted env.NodeSet   // whose yes to SET counted: only theirs counts for an extension
	late    lateness
}

func (a *attempt) acquire(ctx, base context.Context) (*Hold, error) {
	m, ttl := a.mutex, a.mutex.config.TTL
	event := env.Event{Step: env.StepAcquire, Resource: a.resource, Token: a.token, TTL: ttl}
	m.observer.Observe(event)

	event.Until = validUntil(m.now(), ttl, m.config.allowance(ttl))
	m.observe(event, env.StepBeforeSend)
	a.ask(ttl)
	weigh := m.weigher()
	set := env.Command{Op: env.OpSet, Key: a.resource, Token: a.token, TTL: ttl, Vouched: m.config.Quarantine}
	a.round = m.sendWhile(a.isWanted, m.all, set, m.config.Linger)
	a.round.weigh = weigh
	votes, err := m.gather(ctx, a.round, a.round.sent.Add(m.patience))
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

	a.late.without = a.round.failed | a.round.votes.no
	a.late.unheard = a.round.lost // the drain does not hear of these any more
	a.counted = a.round.votes.yes
	hold := newHold(base, a, event.Until, event.Fence)
	a.drainInBackground()
	m.background("watch", hold, hold.watch)
	m.observe(event, env.StepGranted)
	return hold, nil
}

// check is the validity check.
func (m *Mutex) check(e *env.Event) error {
	m.observe(*e, env.StepBeforeCheck)
	e.Validity = e.Until.Sub(m.now())
	if e.Validity <= 0 {
		return fmt.Errorf("%w: it ended %v ago", ErrValidity, -e.Validity)
	}
	m.observe(*e, env.StepAfterCheck)
	return nil
}

// observe tells of a further step of the same operation.
func (m *Mutex) observe(e env.Event, step env.Step) {
	e.Step = step
	m.observer.Observe(e)
}

// cleanUp deletes the keys of a failed try on every node: one that did not
// answer may have set the key all the same, or may be about to. Only those that are known to
// have failed are left in peace: a SET that was never sent left no key, and a node that refuses
// connections would have to refuse another one.
func (a *attempt) cleanUp() {
	m := a.mutex
	a.late.without = a.round.failed | a.round.votes.no
	asked := m.all &^ a.round.failed
	a.abandon(asked, 0)
	keys := a.erase(asked)
	unheard := a.round.lost // it may be set still: what broke the connection need not have held the request back
	m.background("clean up", nil, func() {
		a.finishFirst(keys)
		a.eraseLater(unheard)
	})
	a.drainInBackground()
}

// counts takes note of whose yes counted.
func (a *attempt) counts(nodes env.NodeSet) {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	a.counted = nodes
}

// weighExtension lets a yes count only from a node whose yes to SET did. Another's
// key may have been set in a run that has forgotten somebody else's vote.
func (a *attempt) weighExtension(r env.Reply) env.Reply {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	if r.Answer != env.Yes || a.counted.Has(r.Node) {
		return r
	}
	return env.Reply{Node: r.Node, Answer: env.Failed, Err: ErrQuarantined}
}
