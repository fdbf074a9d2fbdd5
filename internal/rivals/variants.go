package rivals

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// This file has variants of Redlock for comparison. They change what the lock is built on, so
// the lock itself has no switch for them.

// TimeTokens returns a source of tokens that are the wall clock in microseconds and the name of
// the client, the simpler of the two kinds in the description of Redlock. Two tries get the same
// token if they begin in the same microsecond or the wall clock steps back; each then releases
// the other's lock.
func TimeTokens(runtime env.Runtime, client string) func() string {
	return func() string {
		return strconv.FormatInt(int64(runtime.Now(env.Wall))/int64(time.Microsecond), 10) + "-" + client
	}
}

// OnWallClock returns a runtime whose boottime clock is the wall clock. A lock that counts its
// validity on env.Boottime then outlives its keys if the wall clock steps back.
func OnWallClock(runtime env.Runtime) env.Runtime { return onWallClock{runtime} }

type onWallClock struct{ env.Runtime }

func (o onWallClock) Now(c env.Clock) env.Instant {
	if c == env.Boottime {
		c = env.Wall
	}
	return o.Runtime.Now(c)
}

// Sequential is a transport that sends a command to one node after another: to the next node
// when the last one has replied, or after Timeout. Redlock was first described like this. With
// five nodes and all at once a grant takes a third of the time, and contenders have less time to
// get into each other's way.
//
// A lock that uses it must allow a round the timeouts of all nodes together.
type Sequential struct {
	env.Nodes
	Runtime env.Runtime
	Timeout time.Duration // for the reply of one node

	mu     sync.Mutex // never held across a wait
	rounds []*sequentialRound
}

// Send implements [env.Nodes].
func (s *Sequential) Send(to env.NodeSet, command env.Command, giveUp env.Instant) env.Round {
	if command.Op == env.OpDelete {
		s.stop(command)
	}
	if to.Len() == 1 {
		return s.Nodes.Send(to, command, giveUp)
	}
	wait := giveUp.Sub(s.Runtime.Now(env.Monotonic))
	if command.Op != env.OpSet { // whose late replies are read for longer
		wait = min(wait, s.Timeout)
	}
	r := &sequentialRound{nodes: s, command: command, wait: wait, rest: to}
	if command.Op == env.OpSet {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.rounds = append(s.rounds, r)
	}
	return r
}

// stop ends the rounds that set the key that is to be deleted: they ask no further nodes.
func (s *Sequential) stop(command env.Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rounds = slices.DeleteFunc(s.rounds, func(r *sequentialRound) bool {
		r.stopped = r.stopped || r.command.Key == command.Key && r.command.Token == command.Token
		return r.stopped || r.rest == 0
	})
}

// sequentialRound implements [env.Round].
type sequentialRound struct {
	nodes   *Sequential
	command env.Command
	wait    time.Duration // after which the transport gives up on a reply

	last env.Round   // the request in turn; nil: none
	turn env.Instant // when the next node's turn begins
	slow []env.Round // requests without a reply in their turn

	// Guarded by nodes.mu.
	rest    env.NodeSet // not asked yet
	stopped bool
}

// Next implements [env.Round].
func (r *sequentialRound) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	for {
		if r.last == nil {
			node := r.following()
			if node == 0 {
				return r.nextSlow(ctx, until)
			}
			if err := r.over(ctx, until); err != nil {
				return env.Reply{}, err
			}
			r.ask(node)
		}
		reply, err := r.last.Next(ctx, min(until, r.turn))
		switch {
		case err == nil:
			r.last = nil
			return reply, nil
		case !errors.Is(err, env.ErrTimeout) || r.over(ctx, until) != nil:
			return env.Reply{}, err
		}
		r.slow, r.last = append(r.slow, r.last), nil
	}
}

// following returns the node whose turn is next, or 0.
func (r *sequentialRound) following() int {
	r.nodes.mu.Lock()
	defer r.nodes.mu.Unlock()
	if r.stopped {
		return 0
	}
	return r.rest.First()
}

// over returns the reason if a wait has ended.
func (r *sequentialRound) over(ctx context.Context, until env.Instant) error {
	if r.nodes.Runtime.Now(env.Monotonic) >= until {
		return env.ErrTimeout
	}
	return ctx.Err()
}

func (r *sequentialRound) ask(node int) {
	now := r.nodes.Runtime.Now(env.Monotonic)
	r.nodes.mu.Lock()
	r.rest = r.rest.Without(node)
	r.nodes.mu.Unlock()
	r.turn = now.Add(r.nodes.Timeout)
	r.last = r.nodes.Nodes.Send(env.SetOf(node), r.command, now.Add(r.wait))
}

// nextSlow returns replies that did not come in their turn, after all nodes had one. A caller
// with a deadline does not wait for them again: it would keep others out meanwhile, with keys on
// half of the nodes. Only a caller without a deadline, which drains the round, waits.
func (r *sequentialRound) nextSlow(ctx context.Context, until env.Instant) (env.Reply, error) {
	if len(r.slow) == 0 {
		return env.Reply{}, env.ErrRoundOver
	}
	if reply, ok := r.replied(); ok {
		return reply, nil
	}
	if until != env.Never {
		return env.Reply{}, env.ErrTimeout
	}
	// One can wait for one request only. Replies to the others are looked at afterwards.
	reply, err := r.slow[0].Next(ctx, until)
	if err == nil {
		r.slow = r.slow[1:]
		return reply, nil
	}
	if reply, ok := r.replied(); ok {
		return reply, nil
	}
	return env.Reply{}, err
}

// replied returns a reply that is already there.
func (r *sequentialRound) replied() (env.Reply, bool) {
	for i, slow := range r.slow {
		if reply, err := slow.Next(context.Background(), r.nodes.Runtime.Now(env.Monotonic)); err == nil {
			r.slow = slices.Delete(r.slow, i, i+1)
			return reply, true
		}
	}
	return env.Reply{}, false
}
