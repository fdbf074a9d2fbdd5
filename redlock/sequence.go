package redlock

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// sequence is a round that asks one node after another: the next one when the
// last has answered, or has been waited for as long as one node may be. It is how
// the algorithm was first described; to ask all at once takes a fifth of the time
// with five nodes, and leaves contenders less of it to get into each other's way.
type sequence struct {
	mutex   *Mutex
	command env.Command
	wait    time.Duration // after which a request is given up
	wanted  func() bool   // whether more nodes have to be asked

	rest env.NodeSet // not asked yet
	last env.Round   // the request that is waited for before the next node is asked; nil: none
	turn env.Instant // and until when
	slow []env.Round // requests that have not been answered in their turn
}

// Next implements [env.Round].
func (s *sequence) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	for {
		if s.last == nil {
			if s.rest == 0 || !s.wanted() {
				return s.nextSlow(ctx, until)
			}
			if err := s.over(ctx, until); err != nil {
				return env.Reply{}, err
			}
			s.ask()
		}
		reply, err := s.last.Next(ctx, min(until, s.turn))
		switch {
		case err == nil:
			s.last = nil
			return reply, nil
		case !errors.Is(err, env.ErrTimeout) || s.over(ctx, until) != nil:
			return env.Reply{}, err
		}
		s.slow, s.last = append(s.slow, s.last), nil
	}
}

// over returns why a wait is over, if it is.
func (s *sequence) over(ctx context.Context, until env.Instant) error {
	if s.mutex.runtime.Now(env.Monotonic) >= until {
		return env.ErrTimeout
	}
	return ctx.Err()
}

func (s *sequence) ask() {
	node, now := s.rest.First(), s.mutex.runtime.Now(env.Monotonic)
	s.rest = s.rest.Without(node)
	s.turn = now.Add(s.mutex.config.NodeTimeout)
	s.last = s.mutex.nodes.Send(env.SetOf(node), s.command, now.Add(s.wait))
}

// nextSlow hears the nodes that have not answered in their turn, when all have been
// asked. Each has been waited for as long as one node may be: who decides does not
// wait for them again, with keys on half of the nodes that keep others out. Only who
// hears the round out, without an end, does.
func (s *sequence) nextSlow(ctx context.Context, until env.Instant) (env.Reply, error) {
	if len(s.slow) == 0 {
		return env.Reply{}, env.ErrRoundOver
	}
	if reply, ok := s.answered(); ok {
		return reply, nil
	}
	if until != env.Never {
		return env.Reply{}, env.ErrTimeout
	}
	// One can wait for one round only: what the others answer meanwhile is looked
	// at when the wait is over, however it ends.
	reply, err := s.slow[0].Next(ctx, until)
	if err == nil {
		s.slow = s.slow[1:]
		return reply, nil
	}
	if reply, ok := s.answered(); ok {
		return reply, nil
	}
	return env.Reply{}, err
}

// answered returns a reply that is already there.
func (s *sequence) answered() (env.Reply, bool) {
	for i, r := range s.slow {
		if reply, err := r.Next(context.Background(), s.mutex.runtime.Now(env.Monotonic)); err == nil {
			s.slow = slices.Delete(s.slow, i, i+1)
			return reply, true
		}
	}
	return env.Reply{}, false
}
