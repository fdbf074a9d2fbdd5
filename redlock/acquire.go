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
	late    stragglerState
}

func (a *attempt) acquire(ctx, base context.Context) (*Hold, error) {
	m, ttl := a.mutex, a.mutex.config.TTL
	event := env.Event{Step: env.StepAcquire, Resource: a.resource, Token: a.token, TTL: ttl}
	m.observer.Observe(event)

	event.Until = validUntil(m.now(), ttl, m.config.allowance(ttl))
	m.observe(event, env.StepBeforeSend)
	a.ask(ttl)
	weigh := m.voteCounter()
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

// observe reports a further step of the same operation.
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
		a.finishFirstDelete(keys)
		a.deleteAfterLinger(unheard)
	})
	a.drainInBackground()
}

// counts records the nodes whose yes counted.
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

// subject names the lock that a round is for.
type subject struct{ resource, token string }

// round is one command on its way to nodes, and the replies so far.
type round struct {
	command env.Command
	about   *subject // nil: what its command names
	replies env.Round
	weigh   func(env.Reply) env.Reply // what a reply counts as; nil: itself
	sent    env.Instant
	votes   tally
	silent  env.NodeSet // asked and not yet heard of
	lost    env.NodeSet // heard of as env.Lost: what the command did is unknown
	failed  env.NodeSet // heard of as env.Failed: it did nothing
}

// send hands a command to the nodes of the set. Their answers are given up
// after wait.
func (m *Mutex) send(to env.NodeSet, command env.Command, wait time.Duration) *round {
	return m.sendWhile(always, to, command, wait)
}

func always() bool { return true }

// sendWhile is send; nodes that are not asked at once are asked only while it is
// wanted.
func (m *Mutex) sendWhile(wanted func() bool, to env.NodeSet, command env.Command, wait time.Duration) *round {
	if !m.config.Sequential || to.Len() == 1 {
		return m.sendAtOnce(to, command, wait)
	}
	r := m.newRound(to, command)
	r.replies = &sequence{mutex: m, command: command, wait: wait, wanted: wanted, rest: to}
	return r
}

// sendAtOnce is send, whatever [Config.Sequential] says.
func (m *Mutex) sendAtOnce(to env.NodeSet, command env.Command, wait time.Duration) *round {
	r := m.newRound(to, command)
	r.replies = m.nodes.Send(to, command, r.sent.Add(wait))
	return r
}

func (m *Mutex) newRound(to env.NodeSet, command env.Command) *round {
	return &round{
		command: command, sent: m.runtime.Now(env.Monotonic),
		votes: tally{quorum: &m.quorum}, silent: to,
	}
}

// next waits for one more reply, and returns it and what it counts as.
func (r *round) next(ctx context.Context, until env.Instant) (reply, vote env.Reply, err error) {
	reply, err = r.replies.Next(ctx, until)
	if err != nil {
		return reply, reply, err
	}
	vote = reply
	if r.weigh != nil {
		vote = r.weigh(reply)
	}
	r.votes.count(vote)
	r.silent = r.silent.Without(reply.Node)
	switch reply.Answer {
	case env.Lost:
		r.lost = r.lost.With(reply.Node)
	case env.Failed:
		r.failed = r.failed.With(reply.Node)
	}
	return reply, vote, nil
}

// names returns the resource and the token that the round is about.
func (r *round) names() (resource, token string) {
	if r.about != nil {
		return r.about.resource, r.about.token
	}
	return r.command.Key, r.command.Token
}

// gather counts replies until they decide, the instant until has come
// ([env.ErrTimeout]) or ctx ends, and returns the votes so far. Each reply is a
// step. Afterwards the round may be handed to a background task, and must then
// not be looked at again.
func (m *Mutex) gather(ctx context.Context, r *round, until env.Instant) (tally, error) {
	for k := 1; r.votes.decide() == undecided; k++ {
		_, vote, err := r.next(ctx, until)
		if err != nil {
			return r.votes, err
		}
		resource, token := r.names()
		m.observer.Observe(env.Event{Step: env.StepReply, Op: r.command.Op, Resource: resource, Token: token, Reply: vote, K: k})
	}
	return r.votes, nil
}

// drain waits for the remaining replies of a round. The transport answers for
// every node at the request's deadline, so this ends.
func (r *round) drain(each func(env.Reply)) {
	for {
		reply, _, err := r.next(context.Background(), env.Never)
		if err != nil {
			return
		}
		if each != nil {
			each(reply)
		}
	}
}

// drainRest waits for the remaining replies in the background, if there are any.
func (m *Mutex) drainRest(name string, r *round) {
	if r.silent != 0 {
		m.background(name, nil, func() { r.drain(nil) })
	}
}

// The rest of this file is pure functions of votes and clock readings.

// decision is what the replies to a round amount to.
type decision uint8

const (
	undecided decision = iota
	won                // a quorum said yes
	lost               // a quorum can no longer say yes
)

// tally counts the replies to one round over all voters. A copy of it stays as it
// is while the original counts on.
type tally struct {
	quorum   *env.Quorum
	yes, no  env.NodeSet
	failed   env.NodeSet // or their answer is lost
	failures []env.Reply // theirs
	highest  uint64      // counter of all replies
}

func (t *tally) count(r env.Reply) {
	t.highest = max(t.highest, r.Count)
	switch r.Answer {
	case env.Yes:
		t.yes = t.yes.With(r.Node)
	case env.No:
		t.no = t.no.With(r.Node)
	default:
		t.failed = t.failed.With(r.Node)
		t.failures = append(t.failures, r)
	}
}

// decide returns the outcome as soon as it can no longer change: with 4 nodes,
// two against two is lost.
func (t *tally) decide() decision {
	switch {
	case t.quorum.Has(t.yes):
		return won
	case !t.quorum.Has(t.quorum.Voters &^ (t.no | t.failed)):
		return lost
	}
	return undecided
}

// denied reports whether so many nodes said no that a quorum of yes is
// impossible whatever the silent ones hold.
func (t *tally) denied() bool { return !t.quorum.Has(t.quorum.Voters &^ t.no) }

// validUntil is the end of validity of keys that were asked for at t0, before
// the first request was sent: no key can have been set, and so none can
// expire, earlier than that.
func validUntil(t0 env.Instant, ttl, allowance time.Duration) env.Instant {
	return t0.Add(ttl - allowance)
}

// extendedUntil is the end of validity after an extension that was asked for
// at t0. Nodes never shorten the life of a key, and so neither does an
// extension.
func extendedUntil(old, t0 env.Instant, ttl, allowance time.Duration) env.Instant {
	return max(old, validUntil(t0, ttl, allowance))
}

// retryDelay maps 64 random bits to a delay from lo to hi, both included.
func retryDelay(lo, hi time.Duration, random uint64) time.Duration {
	return lo + time.Duration(random%uint64(hi-lo+1))
}
