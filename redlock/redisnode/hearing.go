package redisnode

import (
	"slices"

	"github.com/lockstorm/lockstorm/env"
)

// This file is about nodes of which nothing is heard. They are sent one request at a time,
// until they answer one; where they do not answer that either nobody waits any more, and
// what would have to is refused. What is never sent is known to have done nothing, and
// leaves no key to delete: a lock goes on without a dead node at the price of a request
// now and then.

// muteTurn takes the place of turn where nothing is heard of a node: what is dead is not worth a connection each
// few milliseconds, and what is back is soon heard.
const muteTurn = 64 * turn

// hearing is what has been heard of a node.
type hearing uint8

const (
	answers hearing = iota
	silent          // nothing in answer to a lot: requests go out one at a time
	mute            // nor to one that has gone out alone since: what would have to wait is refused
)

// heardOf takes note of a reply of the node.
func (n *node) heardOf() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.state = answers
}

// finish takes note of a batch that is over. That there was no connection says nothing new:
// to a node that is mute it fails after seconds.
func (n *node) finish(batch *pipeline, probe bool) {
	switch {
	case batch.heard:
	case batch.unsent == nil:
		n.unheard(probe)
	case refused(batch.unsent):
		n.refuseWaiting(batch.unsent)
	}
}

// unheard takes note of a batch without a reply.
func (n *node) unheard(probe bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.state = max(n.state, silent); probe {
		n.state = mute
	}
}

// refuseWaiting fails those that wait while the only connection is refused: each batch of
// them would only make the same attempt again. If another batch is under way its connection is
// theirs.
func (n *node) refuseWaiting(reason error) {
	n.mu.Lock()
	var all []*request
	if n.busy == 1 {
		all, n.waiting = n.waiting, nil
	}
	for _, r := range all {
		n.leave(r)
	}
	n.mu.Unlock()
	for _, r := range all {
		n.tell(r, n.reply(env.Reply{}, reason))
	}
}

// probe takes the one away that waits and has the most patience, so that it hears of a node
// that is back.
func (n *node) probe() []*request {
	best := 0
	for i, r := range n.waiting {
		if most := n.waiting[best].deadline; !most.IsZero() && (r.deadline.IsZero() || most.Before(r.deadline)) {
			best = i
		}
	}
	r := n.waiting[best]
	n.waiting = slices.Delete(n.waiting, best, best+1)
	return []*request{r}
}
