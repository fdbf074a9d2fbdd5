package rivals

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// The locks in this file keep one key on one Redis node.

// lockNode is the node that has the key.
const lockNode = 1

// askNode sends a command about the key to the node and waits for the reply, which is
// [env.Lost] if none arrives.
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

// askNodeStep is askNode and reports the reply as a step: there the client can be paused
// before it sends the next request.
func (a *attempt) askNodeStep(ctx context.Context, command env.Command) env.Reply {
	reply := a.askNode(ctx, command)
	a.reportReply(command.Op, reply)
	return reply
}

// replyError returns the error of a reply; declined is that of No.
func replyError(r env.Reply, declined error) error {
	switch r.Answer {
	case env.Yes:
		return nil
	case env.No:
		return declined
	}
	return fmt.Errorf("%w: %w", ErrNoAnswer, r.Err)
}

// releaseReply returns the result of a release.
func releaseReply(r env.Reply) (env.Answer, error) {
	answer := r.Answer
	if answer == env.Failed {
		answer = env.Lost
	}
	return answer, replyError(r, ErrLost)
}

// setForTTL does SET NX PX and the validity check.
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

// mayBeSet reports whether the try's key was set, or may be.
func (a *attempt) mayBeSet() bool { return a.setAnswer == env.Yes || a.setAnswer == env.Lost }

// NewSingleNode returns the correct lock on one node, as on the page of the command SET on
// redis.io: SET NX PX with a unique token, a script that deletes the key if it holds the
// token, and another that extends it.
//
// It excludes others as long as the node keeps its keys and clocks are correct. If the
// node fails, nobody can have the lock. If the node forgets a key, another client is
// granted the lock: after a restart without an append-only file, or when a replica takes
// over that had not received the key. ([redis.io on distributed locks] therefore uses
// several nodes.)
//
// If a try fails whose key is set, or may be, the key is deleted in the background. The
// same applies to a release without an answer.
//
// [redis.io on distributed locks]:
// https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/
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

// deleteInBackground deletes the token's key. It repeats the request, with growing delays,
// until the node confirms or the key has expired. "No such key" is a confirmation only if
// the key is known to have been set: otherwise the SET may still arrive. A SET that
// arrives after the TTL is not handled.
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

// naive is the common part of the naive schemes: a release deletes the key, whoever has set it
// meanwhile. They have no extension. After a failed try the key stays until its TTL, if it has one,
// because their delete could hit somebody else's key.
type naive struct{}

func (naive) abandon(*attempt) {}

func (naive) release(ctx context.Context, h *Hold) (env.Answer, error) {
	return releaseReply(h.askNodeStep(ctx, env.Command{Op: env.OpRemove}))
}

// NewCheckThenSet returns a lock that checks whether the key exists (GET), and if not sets
// it (SET), without a TTL. It is released by DEL. This is what one writes who takes a key
// for a boolean variable.
//
// Another client can check between the GET and the SET: both find nothing, both set the
// key, and both hold the lock. The first of them to release it deletes the key of the
// other and lets a third in. If the holder dies, or the answer to its SET is lost, the
// lock is taken for ever, because the key has no TTL. So there is no end of validity
// either ([Hold.Until]), and [Config.TTL] is only validated.
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

// NewGetThenDel returns a lock that creates the key with its TTL (SET NX PX). To release
// it the client reads the token (GET), and if that is its own deletes the key (DEL).
// [NewSingleNode] does both in one script.
//
// If the key expires between the two requests and another client gets the lock, the DEL
// deletes the other's key, and a third gets in. A failed try whose key may be set deletes
// it in the same way, once, in the background, with the same gap. A client whose requests
// arrive but that receives no replies cannot do that, and blocks everybody for a TTL with
// each of its tries; a script would still delete the key.
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

// getThenDelete returns the reply to DEL, or the reply that makes the DEL needless.
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

// NewSetNXDel returns a lock that creates the key with its TTL (SET NX PX) and is released
// by DEL. The page of the command SET on redis.io shows it first ("SET resource-name
// anystring NX EX max-lock-time"), and then how to make it more robust.
//
// A holder whose lock has expired deletes the key of the next holder, and a third gets in.
// The late holder is told that it still held the lock.
func NewSetNXDel(c Config, p Ports) (*Mutex, error) { return newMutex(c, p, setNXDel{}) }

type setNXDel struct{ naive }

func (setNXDel) acquire(ctx context.Context, a *attempt) error { return a.setForTTL(ctx) }

// NewSetNXThenExpire returns a lock that creates the key (SETNX), then sets its TTL
// (EXPIRE, here in milliseconds), and is released by DEL. It is from before SET had
// options (Redis 2.6.12). The book "Redis in Action", section 6.2.5, has it with a remedy
// that is missing here: a client that finds the lock taken sets the TTL of a key without
// one.
//
// If the client dies between the two requests, or its EXPIRE is lost, the lock is taken
// for ever. Its release is that of [NewSetNXDel], with the same defect.
//
// The validity is counted from before SETNX. EXPIRE comes later, and so does the expiry of
// the key.
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
