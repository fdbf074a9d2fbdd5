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
	m.running.Add(1) // before closed is read: Close sees the try, or the try sees Close
	defer m.running.Add(-1)
	if m.closed.Load() {
		return nil, ErrClosed
	}
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
	runs    []string      // with a quarantine: the run in which each node's yes to SET counted, by node from 0; "": none
	late    stragglers
}

// acquire sends SET to all nodes, counts their votes, and checks the validity that is left.
func (a *attempt) acquire(ctx, base context.Context) (*Hold, error) {
	m, ttl := a.mutex, a.mutex.config.TTL
	event := env.Event{Step: env.StepAcquire, Resource: a.resource, Token: a.token, TTL: ttl}
	m.observer.Observe(event)

	event.Until = validUntil(m.now(), ttl, m.config.allowance(ttl))
	m.observe(event, env.StepBeforeSend)
	a.set.weigh = a.weigher()
	set := env.Command{Op: env.OpSet, Key: a.resource, Token: a.token, TTL: ttl, Vouched: m.config.Quarantine}
	a.set.send(a, m.all, set, m.config.Linger)
	if err := a.set.gather(ctx, a.set.sent.Add(m.config.NodeTimeout), ErrTaken); err != nil {
		return nil, err
	}
	m.observe(event, env.StepQuorum)
	if err := m.check(&event); err != nil {
		return nil, err
	}
	if m.config.Fence {
		var err error
		if event.Fence, err = a.fence(ctx, event.Until); err != nil {
			return nil, err
		}
		if err := m.check(&event); err != nil {
			return nil, err
		}
	}

	hold := newHold(base, a, event.Until, event.Fence)
	a.trackStragglers()
	hold.startWatch()
	m.observe(event, env.StepGranted)
	return hold, nil
}

// validUntil returns the end of validity of keys that were requested at t0. t0 is read before the
// first request is sent, so no key was set, and none expires, earlier than counted from t0.
func validUntil(t0 env.Instant, ttl, allowance time.Duration) env.Instant {
	return t0.Add(ttl - allowance)
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

// round is one command of an attempt to several nodes, with the replies so far.
type round struct {
	attempt *attempt
	command env.Command
	sent    env.Instant
	replies env.Round
	weigh   func(env.Reply) env.Reply // returns the vote as which a reply counts; nil: the reply itself
	votes   tally
	silent  env.NodeSet // have not replied yet

	// By the reply and not by the vote: the yes of a node in quarantine counts as env.Failed, but the node has
	// the key. Clean-up sends no delete to nodes in unapplied.
	uncertain env.NodeSet // the reply is env.Lost: the command may have an effect, now or later
	unapplied env.NodeSet // the reply is env.Failed: the command never takes effect

	leavesKey func(*attempt, env.Reply) bool // whether a reply in the drain shows a key to delete; nil: never
	deletes   []*round                       // of such keys
}

// send sends a command to the nodes of the set. The transport gives up on replies after wait.
func (a *attempt) send(to env.NodeSet, command env.Command, wait time.Duration) *round {
	r := &round{}
	r.send(a, to, command, wait)
	return r
}

// send fills an empty round and sends its command.
func (r *round) send(a *attempt, to env.NodeSet, command env.Command, wait time.Duration) {
	r.attempt, r.command, r.silent, r.votes.quorum = a, command, to, &a.mutex.quorum
	r.sent = a.mutex.runtime.Now(env.Monotonic)
	r.replies = a.mutex.nodes.Send(to, command, r.sent.Add(wait))
}

// gather counts replies until they decide, the instant until has come or ctx ends. Each reply is a
// step. It returns nil if a quorum agreed, and otherwise a [QuorumError] or the error of ctx.
// declined is the cause if so many nodes declined that no quorum is possible. Afterwards the round
// may be passed to a background task, and the caller must not use it any more.
func (r *round) gather(ctx context.Context, until env.Instant, declined error) error {
	a := r.attempt
	for k := 1; r.votes.decide() == undecided; k++ {
		reply, err := r.replies.Next(ctx, until)
		if errors.Is(err, env.ErrTimeout) {
			break
		}
		if err != nil {
			return err
		}
		vote := r.count(reply)
		a.mutex.observer.Observe(env.Event{Step: env.StepReply, Op: r.command.Op, Resource: a.resource, Token: a.token, Reply: vote, K: k})
	}
	switch {
	case r.votes.decide() == won:
		return nil
	case r.votes.denied():
		return r.votes.quorumError(declined)
	}
	return r.votes.quorumError(ErrNoQuorum)
}

// count counts a reply and returns the vote that it counts as.
func (r *round) count(reply env.Reply) (vote env.Reply) {
	vote = reply
	if r.weigh != nil {
		vote = r.weigh(reply)
	}
	r.votes.count(vote)
	r.silent = r.silent.Without(reply.Node)
	switch reply.Answer {
	case env.Lost:
		r.uncertain = r.uncertain.With(reply.Node)
	case env.Failed:
		r.unapplied = r.unapplied.With(reply.Node)
	}
	return vote
}

// drain waits for the remaining replies. It ends, because at the request's deadline the transport
// returns env.Lost or env.Failed for each node that has not replied.
func (r *round) drain() { env.Drain(r.replies, r) }

// Receive implements [env.Receiver].
func (r *round) Receive(reply env.Reply) {
	r.count(reply)
	if r.leavesKey != nil && r.leavesKey(r.attempt, reply) {
		r.deletes = append(r.deletes, r.attempt.erase(env.SetOf(reply.Node)))
	}
}

// drainRest drains in the background, if any reply is outstanding.
func (r *round) drainRest(name string) {
	if r.silent != 0 {
		r.attempt.mutex.background(name, r.drain)
	}
}

// tally counts the votes of one round.
type tally struct {
	quorum    *env.Quorum
	yes, no   env.NodeSet
	abstained env.NodeSet // voted neither: the command failed, its reply was lost, or its yes does not count
	failures  []env.Reply // the replies of these nodes
	highest   uint64      // the highest counter of all replies
}

func (t *tally) count(r env.Reply) {
	t.highest = max(t.highest, r.Count)
	switch r.Answer {
	case env.Yes:
		t.yes = t.yes.With(r.Node)
	case env.No:
		t.no = t.no.With(r.Node)
	default:
		t.abstained = t.abstained.With(r.Node)
		t.failures = append(t.failures, r)
	}
}

// decision is the outcome of a round.
type decision uint8

const (
	undecided decision = iota
	won                // a quorum said yes
	lost               // a quorum can no longer say yes
)

// decide returns the outcome as soon as it is certain: with 4 nodes, two against two is lost.
func (t *tally) decide() decision {
	switch {
	case t.quorum.Has(t.yes):
		return won
	case !t.quorum.Has(t.quorum.Voters &^ (t.no | t.abstained)):
		return lost
	}
	return undecided
}

// denied reports whether so many nodes said no that no quorum can say yes, whatever the silent
// nodes hold.
func (t *tally) denied() bool { return !t.quorum.Has(t.quorum.Voters &^ t.no) }

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
