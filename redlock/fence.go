package redlock

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/env"
)

// A fence is drawn from counters on the nodes: the highest of a quorum is read,
// and the next number is entered at a quorum, where a counter takes it only if
// it is lower. Two quorums have a node in common, so
//
//   - no number is entered by two, since that node takes it once, and
//   - whoever reads after a number has been entered reads that, or a higher one:
//     who is called after another was granted the lock gets a higher fence.
//
// It is drawn when a quorum has already granted the lock, and the validity is
// checked again afterwards: so a holder drew its fence while it held the lock, and
// its successor, whose votes come later, reads later, even if both were called at
// once. That needs the lock to exclude; all of it needs that nodes forget no
// counter. (To increment every counter, and take the highest of a quorum, does
// not grow: the quorums {1,2,3}, {1,4,5}, {2,3,4} give 1, 2, 2.)

// FenceSource draws a fence for a resource on which a quorum has just granted the
// lock. What it returns must be above all that it has returned for the resource to
// calls that ended before this one began, and not 0, which means none. After an
// error there is no grant, and the try is given up as for want of a quorum.
//
// The try waits for it: it should give up when ctx ends, at the latest when the
// validity does, at the instant until on [Config.Clock], and after a fraction of
// the TTL. In code that is to run in a simulator it waits through env, as all does.
type FenceSource func(ctx context.Context, resource string, until env.Instant) (uint64, error)

// fence draws a fence from wherever the configuration says.
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
		err = errors.New("the source of fences gave 0")
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
		next = raised.highest + 1 // others have entered higher ones meanwhile
	}
}

// count sends one command to the counters and hears a quorum.
func (a *attempt) count(ctx context.Context, command env.Command) (tally, error) {
	m := a.mutex
	command.Key, command.Token = counterKey(a.resource), a.token
	r := m.send(m.all, command, m.config.NodeTimeout)
	r.about = &subject{a.resource, a.token}
	votes, err := m.gather(ctx, r, r.sent.Add(m.patience))
	m.drainRest("drain fence", r)
	switch {
	case votes.decide() == won:
		return votes, nil
	case err != nil && !errors.Is(err, env.ErrTimeout):
		return votes, err
	}
	return votes, fmt.Errorf("%w: %w", ErrNoFence, votes.quorumError(ErrNoQuorum))
}
