package rivals

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/env"
)

// What the locks have in common that keep one key on one node of Redis.

// keeper is that node.
const keeper = 1

// askNode sends a command about the key to the node, and waits for the reply. Without
// one it is [env.Lost].
func (a *attempt) askNode(ctx context.Context, command env.Command) env.Reply {
	m := a.mutex
	command.Key, command.Token = a.resource, a.token
	giveUp := m.mono().Add(m.config.NodeTimeout)
	reply, err := m.Nodes.Send(env.SetOf(keeper), command, giveUp).Next(ctx, giveUp)
	if err != nil {
		return env.Reply{Node: keeper, Answer: env.Lost, Err: err}
	}
	return reply
}

// hearNode is askNode, and the reply is a step: there the client can stand still
// before it sends the next request.
func (a *attempt) hearNode(ctx context.Context, command env.Command) env.Reply {
	reply := a.askNode(ctx, command)
	a.replied(command.Op, reply)
	return reply
}

// outcome is what a reply means of which declined is the error if it is No.
func outcome(r env.Reply, declined error) error {
	switch r.Answer {
	case env.Yes:
		return nil
	case env.No:
		return declined
	}
	return fmt.Errorf("%w: %w", ErrNoAnswer, r.Err)
}

// releaseOutcome is what a reply says of a release.
func releaseOutcome(r env.Reply) (env.Answer, error) {
	answer := r.Answer
	if answer == env.Failed {
		answer = env.Lost
	}
	return answer, outcome(r, ErrLost)
}

// setForTTL is SET NX PX, and the validity check.
func (a *attempt) setForTTL(ctx context.Context) error {
	ttl := a.mutex.config.TTL
	a.aim(a.mutex.validUntil(ttl))
	r := a.hearNode(ctx, env.Command{Op: env.OpSet, TTL: ttl})
	a.said = r.Answer
	if err := outcome(r, ErrTaken); err != nil {
		return err
	}
	return a.check()
}

// mayBeSet reports whether the key of a try was set, or may be.
func (a *attempt) mayBeSet() bool { return a.said == env.Yes || a.said == env.Lost }
