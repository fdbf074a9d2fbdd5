package redlock

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/env"
)

// Fences come from counters on the nodes. The client reads the counters of a quorum and raises
// those of a quorum to the highest plus one; a counter accepts only a higher number. Two quorums
// share a node, so
//
//   - no two clients draw the same number, because that node accepts it only once, and
//   - a client that reads after a number was drawn reads that number or a higher one.
//
// So a call that begins after a grant draws a higher fence. The fence is drawn after a quorum has
// granted the lock, and the validity is checked again afterwards. So if two calls overlap, the
// later holder reads after the earlier one has drawn, as long as the lock excludes them. All of
// this requires that nodes forget no counter. (Incrementing every counter and taking the highest
// of a quorum does not grow: the quorums {1,2,3}, {1,4,5}, {2,3,4} give 1, 2, 2.)

// FenceSource draws a fence for a resource after a quorum has granted the lock. The fence must be
// higher than every fence of the resource whose call ended before this one began, and not 0. If
// it returns an error, the try fails with [ErrNoFence].
//
// The try waits for it, so it should return when ctx ends, and at the latest at the end of
// validity: the instant until on [Config.Clock]. Code for the simulator waits through env.
type FenceSource func(ctx context.Context, resource string, until env.Instant) (uint64, error)

// fence draws a fence from the source of the configuration.
func (a *attempt) fence(ctx context.Context, until env.Instant) (uint64, error) {
	source := a.mutex.config.FenceFrom
	if source == nil {
		return a.drawFence(ctx, until)
	}
	fence, err := source(ctx, a.resource, until)
	switch {
	case err == nil && fence > 0:
		return fence, nil
	case err == nil:
		err = errors.New("the source returned fence 0")
	case ctx.Err() != nil:
		return 0, ctx.Err()
	}
	return 0, fmt.Errorf("%w: %w", ErrNoFence, err)
}

// counterKey names the counter of a resource on the nodes.
func counterKey(resource string) string { return resource + ":fence" }

// drawFence draws a fence while the validity lasts.
func (a *attempt) drawFence(ctx context.Context, until env.Instant) (uint64, error) {
	read, err := a.count(ctx, env.Command{Op: env.OpCount})
	if err != nil {
		return 0, err
	}
	for next := read.highest + 1; ; {
		if a.mutex.now() >= until {
			return 0, fmt.Errorf("%w: it ended while the fence was drawn", ErrValidity)
		}
		raised, err := a.count(ctx, env.Command{Op: env.OpRaise, Count: next})
		if err == nil || raised.no == 0 {
			return next, err
		}
		next = raised.highest + 1 // somebody else has drawn a higher one meanwhile
	}
}

// count sends one command to the counters and returns the votes, with an error if they are no quorum.
func (a *attempt) count(ctx context.Context, command env.Command) (tally, error) {
	m := a.mutex
	command.Key, command.Token = counterKey(a.resource), a.token
	r := a.send(m.all, command, m.config.NodeTimeout)
	err := r.gather(ctx, r.sent.Add(m.config.NodeTimeout), ErrNoQuorum)
	votes := r.votes // of the decision: the round counts on
	r.drainRest("drain fence")
	if errors.Is(err, ErrNoQuorum) {
		err = fmt.Errorf("%w: %w", ErrNoFence, err)
	}
	return votes, err
}
