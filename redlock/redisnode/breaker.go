package redisnode

import (
	"slices"

	"github.com/lockstorm/lockstorm/env"
)

// This file is the circuit breaker of a node that does not reply. After a batch without a
// reply the node gets one request at a time, until it replies. If that request gets no reply
// either, the breaker opens: one request waits to be the next probe, and others are refused.
// A request that is never sent has no effect and leaves no key to delete. So a dead node costs
// a lock one request now and then.

// brokenFlushDelay replaces flushDelay while the node does not reply: a dead node is not worth
// a new connection each few milliseconds, and a probe soon finds a node that is back.
const brokenFlushDelay = 64 * flushDelay

// breakerState says how much is sent to a node.
type breakerState uint8

const (
	breakerClosed   breakerState = iota // the node replies: no limit
	breakerHalfOpen                     // a batch had no reply: one request at a time is sent
	breakerOpen                         // such a request had no reply either: one request waits, others are refused
)

// closeBreaker records a reply of the node.
func (n *node) closeBreaker() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.breaker = breakerClosed
}

// batchEnded updates the breaker after a batch. A dial that timed out does not change it: while
// the breaker is open, dials fail only after seconds.
func (n *node) batchEnded(p *pipeline, probe bool) {
	switch {
	case p.replied:
	case p.dialErr == nil:
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.breaker = max(n.breaker, breakerHalfOpen); probe {
			n.breaker = breakerOpen
		}
	case refused(p.dialErr):
		n.failWaiting(p.dialErr)
	}
}

// failWaiting fails the waiting requests when the only connection was refused: each batch of
// them would repeat the same attempt. If another batch is under way they wait for its
// connection.
func (n *node) failWaiting(reason error) {
	n.mu.Lock()
	var all []*request
	if n.active == 1 {
		all, n.waiting = n.waiting, nil
	}
	for _, r := range all {
		n.unlink(r)
	}
	n.mu.Unlock()
	for _, r := range all {
		n.deliver(r, n.reply(env.Reply{}, reason))
	}
}

// takeProbe dequeues the waiting request with the latest deadline, which has the best chance to
// see the node come back.
func (n *node) takeProbe() []*request {
	best := 0
	for i, r := range n.waiting {
		if latest := n.waiting[best].deadline; !latest.IsZero() && (r.deadline.IsZero() || latest.Before(r.deadline)) {
			best = i
		}
	}
	r := n.waiting[best]
	n.waiting = slices.Delete(n.waiting, best, best+1)
	return []*request{r}
}
