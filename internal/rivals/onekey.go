package rivals

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// row is a row for each resource, which is there while somebody holds it.
type row struct{}

// NewRow returns the lock of a table in a database, as articles have it: it deletes
// the rows that are past their TTL, inserts one of its own under a unique key, and
// deletes that when it is done. Who fails tries again after a random delay. The
// fence is the row's increasing number.
//
// The TTL is counted by the database's clock. A row cannot be extended.
func NewRow(c Config, p Ports) (*Mutex, error) { return newStoreMutex(c, p, row{}) }

func (row) acquire(ctx context.Context, a *attempt) error {
	m, key := a.mutex, path(a.resource)
	a.setUntil(m.validUntil(m.config.TTL))
	if _, err := m.ask(ctx, env.StoreRequest{Op: env.StoreSweep, Key: key}); err != nil {
		return err
	}
	if _, err := a.create(ctx, env.StoreRequest{Key: key, TTL: m.config.TTL}); err != nil {
		return err
	}
	return a.check()
}

func (row) abandon(a *attempt) { a.clear() }

func (row) release(ctx context.Context, h *Hold) (env.Answer, error) { return h.drop(ctx) }

// What the locks have in common that keep one key on one node of Redis.

// lockNode is that node.
const lockNode = 1

// askNode sends a command about the key to the node, and waits for the reply. Without
// one it is [env.Lost].
func (a *attempt) askNode(ctx context.Context, command env.Command) env.Reply {
	m := a.mutex
	command.Key, command.Token = a.resource, a.token
	giveUp := m.mono().Add(m.config.NodeTimeout)
	reply, err := m.Nodes.Send(env.SetOf(lockNode), command, giveUp).Next(ctx, giveUp)
	if err != nil {
		return env.Reply{Node: lockNode, Answer: env.Lost, Err: err}
	}
	return reply
}

// askNodeStep is askNode, and the reply is a step: there the client can stand still
// before it sends the next request.
func (a *attempt) askNodeStep(ctx context.Context, command env.Command) env.Reply {
	reply := a.askNode(ctx, command)
	a.reportReply(command.Op, reply)
	return reply
}

// replyError is what a reply means of which declined is the error if it is No.
func replyError(r env.Reply, declined error) error {
	switch r.Answer {
	case env.Yes:
		return nil
	case env.No:
		return declined
	}
	return fmt.Errorf("%w: %w", ErrNoAnswer, r.Err)
}

// releaseReply is what a reply says of a release.
func releaseReply(r env.Reply) (env.Answer, error) {
	answer := r.Answer
	if answer == env.Failed {
		answer = env.Lost
	}
	return answer, replyError(r, ErrLost)
}

// setForTTL is SET NX PX, and the validity check.
func (a *attempt) setForTTL(ctx context.Context) error {
	ttl := a.mutex.config.TTL
	a.setUntil(a.mutex.validUntil(ttl))
	r := a.askNodeStep(ctx, env.Command{Op: env.OpSet, TTL: ttl})
	a.setAnswer = r.Answer
	if err := replyError(r, ErrTaken); err != nil {
		return err
	}
	return a.check()
}

// mayBeSet reports whether the key of a try was set, or may be.
func (a *attempt) mayBeSet() bool { return a.setAnswer == env.Yes || a.setAnswer == env.Lost }

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
		a.deleteInBackground()
	}
}

func (singleNode) extend(ctx context.Context, h *Hold, ttl time.Duration) (env.Instant, error) {
	until := h.mutex.validUntil(ttl)
	r := h.askNodeStep(ctx, env.Command{Op: env.OpExtend, TTL: ttl})
	err := replyError(r, ErrLost)
	if r.Answer == env.No {
		h.lose(err)
	}
	return until, err
}

func (singleNode) release(ctx context.Context, h *Hold) (env.Answer, error) {
	r := h.askNodeStep(ctx, env.Command{Op: env.OpDelete})
	if r.Answer == env.Failed || r.Answer == env.Lost {
		h.deleteInBackground()
	}
	return releaseReply(r)
}

// deleteInBackground deletes the token's key, and asks again, less and less often,
// until the node says that it has done so or the key has expired. That there is
// none is an answer only if the key is known to have been set: otherwise it may
// still come. One that comes even after its time to live is left to the next.
func (a *attempt) deleteInBackground() {
	m := a.mutex
	expired := m.mono().Add(m.config.TTL)
	m.Runtime.Go("erase", func() {
		for wait := m.config.NodeTimeout; ; wait *= 2 {
			r := a.askNode(context.Background(), env.Command{Op: env.OpDelete})
			if r.Answer == env.Yes || r.Answer == env.No && a.setAnswer == env.Yes || m.mono().Add(wait) >= expired {
				return
			}
			_ = m.Runtime.Sleep(context.Background(), m.mono().Add(wait))
		}
	})
}

// naive is what the naive schemes have in common: whoever gives the lock up
// deletes the key, whoever's it is by then. They know no extension. What a failed
// try has left is left to the key's time to live, if it has one: the only delete
// that they know could hit somebody else.
type naive struct{}

func (naive) abandon(*attempt) {}

func (naive) release(ctx context.Context, h *Hold) (env.Answer, error) {
	return releaseReply(h.askNodeStep(ctx, env.Command{Op: env.OpRemove}))
}

// NewCheckThenSet returns a lock that looks whether there is a key (GET), and if
// there is none sets it (SET), for ever; it is released by DEL. That is what one
// writes who takes a key for a boolean variable.
//
// Between the look and the SET another can look as well: both find nothing, both
// set the key, and both hold the lock. The first of them to release it deletes the
// key of the other, and lets a third in. If the holder dies, or the answer to its
// SET is lost, the lock is taken for ever, because the key has no time to live. So
// there is no end of validity either, [Hold.Until]; and no use for
// [Config.TTL], but for its being there.
func NewCheckThenSet(c Config, p Ports) (*Mutex, error) { return newMutex(c, p, checkThenSet{}) }

type checkThenSet struct{ naive }

func (checkThenSet) acquire(ctx context.Context, a *attempt) error {
	a.setUntil(env.Never)
	looked := a.askNodeStep(ctx, env.Command{Op: env.OpGet})
	if looked.Answer == env.No {
		return replyError(a.askNodeStep(ctx, env.Command{Op: env.OpPut}), nil)
	}
	if err := replyError(looked, nil); err != nil {
		return err
	}
	return ErrTaken
}

// NewGetThenDel returns a lock that creates the key with its time to live (SET NX
// PX); to release it the client looks whose key it is (GET), and if it is its own
// deletes it (DEL). It does in two requests what [NewSingleNode] has a script do in
// one.
//
// If the key expires between the two, and another gets the lock, it is the other's
// key that is deleted, and a third gets in. A failed try whose key may be set gives
// it back in the same way, once, in the background, and with the same gap. A client
// that can send and hears nothing cannot do even that, and keeps everybody out for
// a TTL with each of its tries; a script it could send all the same.
func NewGetThenDel(c Config, p Ports) (*Mutex, error) { return newMutex(c, p, getThenDel{}) }

type getThenDel struct{}

func (getThenDel) acquire(ctx context.Context, a *attempt) error { return a.setForTTL(ctx) }

func (getThenDel) release(ctx context.Context, h *Hold) (env.Answer, error) {
	return releaseReply(h.getThenDelete(ctx, h.askNodeStep))
}

func (getThenDel) abandon(a *attempt) {
	if a.mayBeSet() {
		a.mutex.Runtime.Go("give back", func() { a.getThenDelete(context.Background(), a.askNode) })
	}
}

// getThenDelete returns the reply to DEL, or what has made that needless.
func (a *attempt) getThenDelete(ctx context.Context, ask func(context.Context, env.Command) env.Reply) env.Reply {
	looked := ask(ctx, env.Command{Op: env.OpGet})
	switch {
	case looked.Answer != env.Yes:
		return looked
	case looked.Token != a.token:
		return env.Reply{Node: looked.Node, Answer: env.No}
	}
	return ask(ctx, env.Command{Op: env.OpRemove})
}

// NewSetNXDel returns a lock that creates the key with its time to live at once
// (SET NX PX), and is released by DEL. The page of the command SET on redis.io
// shows it first ("SET resource-name anystring NX EX max-lock-time"), and then why
// it should be more robust.
//
// A holder who is late deletes a key that is not its own any more: its lock has
// expired, another has got it, and is now without; a third gets in. And it is told
// that it still held the lock.
func NewSetNXDel(c Config, p Ports) (*Mutex, error) { return newMutex(c, p, setNXDel{}) }

type setNXDel struct{ naive }

func (setNXDel) acquire(ctx context.Context, a *attempt) error { return a.setForTTL(ctx) }

// NewSetNXThenExpire returns a lock that creates the key (SETNX), gives it a time
// to live (EXPIRE, here in milliseconds) when it has got it, and is released by
// DEL. It is from before SET had options (Redis 2.6.12); the book "Redis in
// Action", section 6.2.5, has it with a cure: whoever finds the lock taken looks
// whether the key has a time to live, and gives it one. Here it is without.
//
// If the client dies between the two, or its EXPIRE is lost, the lock is taken for
// ever. Its release is that of [NewSetNXDel], with the same defect.
//
// The validity is counted from before SETNX. EXPIRE comes later, and so does the
// end of the key's life.
func NewSetNXThenExpire(c Config, p Ports) (*Mutex, error) {
	return newMutex(c, p, setNXThenExpire{})
}

type setNXThenExpire struct{ naive }

func (setNXThenExpire) acquire(ctx context.Context, a *attempt) error {
	ttl := a.mutex.config.TTL
	a.setUntil(a.mutex.validUntil(ttl))
	if err := replyError(a.askNodeStep(ctx, env.Command{Op: env.OpAdd}), ErrTaken); err != nil {
		return err
	}
	if err := replyError(a.askNodeStep(ctx, env.Command{Op: env.OpExpire, TTL: ttl}), ErrLost); err != nil {
		return err
	}
	return a.check()
}
