package redlock

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/env"
)

// Release gives the lock up on every node. It returns nil when a quorum of
// nodes deleted its keys, [ErrLost] when a quorum held them no more, and
// [ErrNoQuorum] or the error of ctx when nobody could tell in time; the nodes
// are asked to delete the keys in any case. Releasing twice is [ErrReleased].
func (h *Hold) Release(ctx context.Context) error {
	m, a := h.attempt.mutex, h.attempt
	m.mu.Lock()
	twice := h.state == released
	h.state, a.abandoned = released, true
	m.mu.Unlock()
	if twice {
		return ErrReleased
	}
	event := env.Event{Step: env.StepBeforeRelease, Resource: a.resource, Token: a.token}
	m.observer.Observe(event)
	h.end(ErrReleased)

	r := m.send(m.all, m.deleteCommand(a.resource, a.token), m.config.NodeTimeout)
	votes, err := m.gather(ctx, r, m.runtime.Mono().Add(m.config.NodeTimeout))
	if r.silent != 0 || r.lost != 0 {
		m.background("finish release", nil, func() { m.finishErase(r) })
	}
	event.Answer, event.Err = releaseOutcome(votes, err)
	m.observe(event, env.StepReleased)
	return event.Err
}

func releaseOutcome(v tally, err error) (env.Answer, error) {
	switch {
	case v.decide() == won:
		return env.Yes, nil
	case v.denied():
		return env.No, fmt.Errorf("%w: %d of %d nodes held it no more", ErrLost, v.declined, v.nodes)
	case err != nil && !errors.Is(err, env.ErrTimeout):
		return env.Lost, err
	}
	return env.Lost, fmt.Errorf("%w to the release", ErrNoQuorum)
}
