package redlock

import (
	"context"
	"errors"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Release releases the lock on every node. It returns nil if a quorum of nodes deleted the keys,
// [ErrLost] if so many nodes no longer held them that no quorum is possible, and [ErrNoQuorum]
// or the error of ctx if too few nodes replied. The deletes are sent in any case, even if ctx has
// ended. After ErrLost, somebody else may have held the lock during the work. A second release
// returns [ErrReleased].
func (h *Hold) Release(ctx context.Context) error {
	m, a := h.attempt.mutex, h.attempt
	m.jobs.begin()
	defer m.jobs.end()
	if err := h.markReleased(); err != nil {
		return err
	}
	event := env.Event{Step: env.StepBeforeRelease, Resource: a.resource, Token: a.token}
	m.observer.Observe(event)
	h.end(ErrReleased)

	keys := a.eraseFirst(m.all)
	r := keys.round
	votes, err := m.gather(ctx, r, r.sent.Add(m.config.NodeTimeout))
	event.Answer, event.Err = releaseOutcome(votes, err)
	m.observe(event, env.StepReleased)
	a.finishRelease(keys)
	return event.Err
}

// markReleased ends the hold for its holder.
func (h *Hold) markReleased() error {
	h.attempt.mutex.mu.Lock()
	defer h.attempt.mutex.mu.Unlock()
	if h.state == released {
		return ErrReleased
	}
	h.state, h.attempt.late.stage = released, releasing
	return nil
}

// finishRelease waits for the remaining replies in the background, and deletes the keys that were
// set after their delete: at once on nodes that replied that they set the key, a linger time
// later on nodes that never replied to SET. A key that is set even later stays until it expires.
// The second delete is sent only now, because before the release has returned it would make the
// release's result wrong.
func (a *attempt) finishRelease(keys deletion) {
	r := keys.round
	overtaken, unheard := a.abandon(r.silent, r.votes.yes)
	if r.silent|r.lost|r.failed|overtaken|unheard == 0 {
		return
	}
	a.mutex.background("finish release", func() {
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

// deletion is a delete of a token's keys on some nodes. A key that stays keeps others out until
// it expires.
type deletion struct {
	attempt *attempt
	round   *round
}

// eraseFirst asks the nodes of the set to delete the keys. Every try that is not held for ever
// does so once.
func (a *attempt) eraseFirst(from env.NodeSet) deletion { return a.eraseIn(&a.deletion, from) }

// erase asks the nodes of the set once more.
func (a *attempt) erase(from env.NodeSet) deletion { return a.eraseIn(new(round), from) }

func (a *attempt) eraseIn(r *round, from env.NodeSet) deletion {
	r.send(a.mutex, from, env.Command{Op: env.OpDelete, Key: a.resource, Token: a.token}, a.mutex.config.NodeTimeout)
	return deletion{a, r}
}

// deleteAfterLinger asks nodes that may still set the key to delete it a linger time from now.
func (a *attempt) deleteAfterLinger(from env.NodeSet) {
	m := a.mutex
	if from != 0 {
		_ = m.runtime.Sleep(context.Background(), m.runtime.Now(env.Monotonic).Add(m.config.Linger))
		a.erase(from).finish()
	}
}

// finish waits for all replies. Nodes that did not reply are asked again at once, and get a linger
// time to reply. What is still left becomes a pending delete, except on nodes that are known not
// to have set the key.
func (e deletion) finish() {
	r := e.round
	r.drain()
	left := r.lost | r.failed
	if r.lost != 0 {
		again := e.attempt.mutex.send(r.lost, r.command, e.attempt.mutex.config.Linger)
		again.drain()
		left = r.failed | again.lost | again.failed
	}
	if left == 0 {
		return
	}
	if left &^= e.attempt.neverSet(); left != 0 {
		e.attempt.mutex.deleteLater(pendingDelete{attempt: e.attempt, command: r.command, nodes: left, expired: r.sent.Add(e.attempt.longestTTL())})
	}
}

// longestTTL returns the longest TTL that the keys were given.
func (a *attempt) longestTTL() time.Duration {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	return a.longest
}

// ask records the TTL that the keys are about to get from an extension.
func (a *attempt) ask(ttl time.Duration) {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	a.longest = max(a.longest, ttl)
}
