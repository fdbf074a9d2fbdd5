package redlock

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/env"
)

// Release gives the lock up on every node. It returns nil when a quorum of
// nodes deleted its keys, [ErrLost] when so many held them no more that a
// quorum is impossible, and [ErrNoQuorum] or the error of ctx when nobody could
// tell in time; the nodes are asked to delete the keys in any case. Releasing
// twice is [ErrReleased].
func (h *Hold) Release(ctx context.Context) error {
	m, a := h.attempt.mutex, h.attempt
	defer m.end(m.begin())
	if err := h.giveUp(); err != nil {
		return err
	}
	event := env.Event{Step: env.StepBeforeRelease, Resource: a.resource, Token: a.token}
	m.observer.Observe(event)
	h.end(ErrReleased)

	r := m.send(m.all, m.deleteCommand(a.resource, a.token), m.config.NodeTimeout)
	votes, err := m.gather(ctx, r, r.sent.Add(m.config.NodeTimeout))
	a.finishRelease(r)
	event.Answer, event.Err = releaseOutcome(votes, err)
	m.observe(event, env.StepReleased)
	return event.Err
}

// giveUp ends the hold by the holder's wish.
func (h *Hold) giveUp() error {
	h.attempt.mutex.mu.Lock()
	defer h.attempt.mutex.mu.Unlock()
	if h.state == released {
		return ErrReleased
	}
	h.state, h.attempt.stage = released, releasing
	return nil
}

// finishRelease hears the release out in the background, as far as there is
// something to hear, and then deletes what was set too late.
func (a *attempt) finishRelease(r *round) {
	m := a.mutex
	if r.silent|r.lost != 0 {
		m.background("finish release", nil, func() {
			m.finishErase(r)
			a.eraseStragglers(a.abandon())
		})
		return
	}
	if stragglers, unheard := a.abandon(); stragglers|unheard != 0 {
		m.background("erase stragglers", nil, func() { a.eraseStragglers(stragglers, unheard) })
	}
}

// eraseStragglers deletes the keys that the release may have overtaken: those
// that are known to be set at once, those of nodes whose answer to SET never
// came a linger time later. A SET that is even later leaves its key until it
// expires.
func (a *attempt) eraseStragglers(stragglers, unheard env.NodeSet) {
	m := a.mutex
	if stragglers != 0 {
		m.erase(stragglers, a.resource, a.token)
	}
	if unheard != 0 {
		_ = m.runtime.Sleep(context.Background(), m.runtime.Mono().Add(m.config.Linger))
		m.erase(unheard, a.resource, a.token)
	}
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
