package redlock

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// erasing is the deletion of a token's keys from some nodes. It goes on until each
// has answered, because a key that stays keeps others out for what is left of its
// life: a node can be out of reach for a while, and a delete can get lost.
type erasing struct {
	attempt *attempt
	round   *round
}

// erase asks the nodes of the set to delete the keys.
func (a *attempt) erase(from env.NodeSet) erasing {
	m := a.mutex
	return erasing{a, m.send(from, env.Command{Op: env.OpDelete, Key: a.resource, Token: a.token}, m.config.NodeTimeout)}
}

// eraseLater asks nodes to delete the keys a linger time from now, if there are
// any nodes, because they may set them still.
func (a *attempt) eraseLater(from env.NodeSet) {
	m := a.mutex
	if from != 0 {
		_ = m.runtime.Sleep(context.Background(), m.runtime.Now(env.Monotonic).Add(m.config.Linger))
		a.erase(from).finish()
	}
}

// finish hears the nodes out and asks those again that have not said whether they
// had the keys. Those of which no answer came are asked at once, with the patience
// of a linger time; then all, while the mutex is open, at intervals that double,
// until the keys have expired of themselves.
func (e erasing) finish() {
	m, r := e.attempt.mutex, e.round
	expired := r.sent.Add(e.attempt.longestTTL())
	r.drain(nil)
	left := r.lost | r.failed
	if r.lost != 0 {
		left = r.failed | e.again(r.lost)
	}
	for pause := m.config.Linger; left != 0; pause *= 2 {
		if !m.pauseUntil(m.runtime.Now(env.Monotonic).Add(pause), expired) {
			return
		}
		left = e.again(left)
	}
}

// again asks nodes once more, and returns those that have not said.
func (e erasing) again(nodes env.NodeSet) env.NodeSet {
	m := e.attempt.mutex
	r := m.send(nodes, e.round.command, m.config.Linger)
	r.drain(nil)
	return r.lost | r.failed
}

// pauseUntil sleeps, and reports whether it has done so: not if it would be too
// late then, or the mutex is closed.
func (m *Mutex) pauseUntil(then, late env.Instant) bool {
	return then < late && m.runtime.Sleep(m.open, then) == nil
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
