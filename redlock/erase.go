package redlock

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// erasing is the deletion of a token's keys from some nodes. A key that stays keeps
// others out for what is left of its life.
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

// finish hears the nodes out. Those of which no answer came are asked again at
// once, with the patience of a linger time; what is left after that is a remnant,
// but for nodes that are known not to have set the key.
func (e erasing) finish() {
	r := e.round
	r.drain(nil)
	left := r.lost | r.failed
	if r.lost != 0 {
		again := e.attempt.mutex.send(r.lost, r.command, e.attempt.mutex.config.Linger)
		again.drain(nil)
		left = r.failed | again.lost | again.failed
	}
	if left &^= e.attempt.neverSet(); left != 0 {
		e.attempt.mutex.remember(remnant{attempt: e.attempt, command: r.command, nodes: left, expired: r.sent.Add(e.attempt.longestTTL())})
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
