package redisnode

import (
	"slices"

	"github.com/redis/go-redis/v9"

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

// hear takes note of whether the node has answered anything of a lot. That there was no
// connection says nothing new: to a node that is mute it fails after seconds.
func (n *node) hear(answered []*redis.Cmd, probe bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range answered {
		switch err := c.Err(); {
		case err == nil:
			n.state = answers
			return
		case unconnected(err):
			return
		case answer(env.Yes, err) != env.Lost:
			n.state = answers
			return
		}
	}
	if n.state = max(n.state, silent); probe {
		n.state = mute
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
