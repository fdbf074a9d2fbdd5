package redlock

import (
	"context"
	"errors"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Release gives the lock up on every node. It returns nil when a quorum of
// nodes deleted its keys, [ErrLost] when so many held them no more that a
// quorum is impossible, and [ErrNoQuorum] or the error of ctx when nobody could
// tell in time; the nodes are asked to delete the keys in any case, also if ctx
// has ended. Work up to an [ErrLost] may not have been alone. Releasing twice is
// [ErrReleased].
func (h *Hold) Release(ctx context.Context) error {
	m, a := h.attempt.mutex, h.attempt
	defer m.end(m.begin())
	if err := h.markReleased(); err != nil {
		return err
	}
	event := env.Event{Step: env.StepBeforeRelease, Resource: a.resource, Token: a.token}
	m.observer.Observe(event)
	h.end(ErrReleased)

	keys := a.erase(m.all)
	r := keys.round
	votes, err := m.gather(ctx, r, r.sent.Add(m.patience))
	event.Answer, event.Err = releaseOutcome(votes, err)
	m.observe(event, env.StepReleased)
	a.finishRelease(keys)
	return event.Err
}

// giveUp ends the hold by the holder's wish.
func (h *Hold) markReleased() error {
	h.attempt.mutex.mu.Lock()
	defer h.attempt.mutex.mu.Unlock()
	if h.state == released {
		return ErrReleased
	}
	h.state, h.attempt.late.stage = released, releasing
	return nil
}

// finishRelease hears the release out in the background, as far as there is
// something to hear, and deletes the keys that it has overtaken: those that are
// known to be set as soon as that is known, those of nodes whose answer to SET never
// came a linger time later. A SET that is even later leaves its key until it expires.
// Only now that the release has been answered can the second delete no longer
// make that answer untrue.
func (a *attempt) finishRelease(keys deletion) {
	r := keys.round
	overtaken, unheard := a.abandon(r.silent, r.votes.yes)
	if r.silent|r.lost|r.failed|overtaken|unheard == 0 {
		return
	}
	a.mutex.background("finish release", nil, func() {
		if overtaken != 0 {
			a.erase(overtaken).finish()
		}
		a.finishFirstDelete(keys)
		a.deleteAfterLinger(unheard)
	})
}

func releaseOutcome(v tally, err error) (env.Answer, error) {
	switch {
	case v.decide() == won:
		return env.Yes, nil
	case v.denied():
		return env.No, v.quorumError(ErrLost)
	case err != nil && !errors.Is(err, env.ErrTimeout):
		return env.Lost, err
	}
	return env.Lost, v.quorumError(ErrNoQuorum)
}

// deletion is the deletion of a token's keys from some nodes. A key that stays keeps
// others out for what is left of its life.
type deletion struct {
	attempt *attempt
	round   *round
}

// erase asks the nodes of the set to delete the keys.
func (a *attempt) erase(from env.NodeSet) deletion {
	m := a.mutex
	return deletion{a, m.send(from, env.Command{Op: env.OpDelete, Key: a.resource, Token: a.token}, m.config.NodeTimeout)}
}

// deleteAfterLinger asks nodes to delete the keys a linger time from now, if there are
// any nodes, because they may set them still.
func (a *attempt) deleteAfterLinger(from env.NodeSet) {
	m := a.mutex
	if from != 0 {
		_ = m.runtime.Sleep(context.Background(), m.runtime.Now(env.Monotonic).Add(m.config.Linger))
		a.erase(from).finish()
	}
}

// finish hears the nodes out. Those of which no answer came are asked again at
// once, with the patience of a linger time; what is left after that is a remnant,
// but for nodes that are known not to have set the key.
func (e deletion) finish() {
	r := e.round
	r.drain(nil)
	left := r.lost | r.failed
	if r.lost != 0 {
		again := e.attempt.mutex.send(r.lost, r.command, e.attempt.mutex.config.Linger)
		again.drain(nil)
		left = r.failed | again.lost | again.failed
	}
	if left &^= e.attempt.neverSet(); left != 0 {
		e.attempt.mutex.deleteLater(pendingDelete{attempt: e.attempt, command: r.command, nodes: left, expired: r.sent.Add(e.attempt.longestTTL())})
	}
}

// longestTTL is the longest life that the keys were given.
func (a *attempt) longestTTL() time.Duration {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	return a.longest
}

// ask takes note that the keys are about to be given a life.
func (a *attempt) ask(ttl time.Duration) {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	a.longest = max(a.longest, ttl)
}
