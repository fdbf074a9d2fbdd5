package sim

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Keys expire by their node's clock, whether anybody touches them or not. That
// costs no events of the queue: what has come due is taken away, with its own
// time, before the next command is executed and before the next event of the
// history is written.

// expires returns the ground time at which a key expires, as the node's clock
// runs now. Like Redis, a node counts a key as expired when its clock shows a
// later millisecond than the expiry.
func (n *node) expires(k key) int64 {
	return n.wall.When((k.expiry + 1) * int64(time.Millisecond))
}

// expiry is a key that has expired.
type expiry struct {
	at       int64 // ground time
	node     *node
	resource string
}

// expireKeys takes away the keys that have expired.
func (w *World) expireKeys() {
	if w.now >= w.nextExpiry {
		w.expireDue()
	}
}

// expireDue is apart so that expireKeys, which mostly has nothing to do, is
// inlined.
func (w *World) expireDue() {
	var due []expiry
	w.nextExpiry = math.MaxInt64
	for i := range w.nodes {
		due = w.dueOn(&w.nodes[i], due)
		if heir := w.nodes[i].peer; heir != nil {
			due = w.dueOn(heir, due)
		}
	}
	slices.SortFunc(due, func(a, b expiry) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.node.id, b.node.id), cmp.Compare(a.node.run, b.node.run), strings.Compare(a.resource, b.resource))
	})
	for _, e := range due {
		w.expire(e)
	}
}

// dueOn adds the keys of a master that have expired, and notes when the next will.
func (w *World) dueOn(n *node, due []expiry) []expiry {
	w.limits.done += int64(len(n.keys) / manyThings)
	for resource, k := range n.keys {
		if !k.volatile() {
			continue
		}
		if at := n.expires(k); at <= w.now {
			due = append(due, expiry{at, n, resource})
		} else {
			w.nextExpiry = min(w.nextExpiry, at)
		}
	}
	return due
}

func (w *World) expire(e expiry) {
	w.leaseExpiries.Flush(history.Time(e.at))
	k := e.node.keys[e.resource]
	w.drop(e.node, e.resource)
	if k.counter {
		return
	}
	w.write(&history.Event{
		Time: history.Time(e.at), Kind: history.KeyGone,
		Node: e.node.id, Resource: e.resource, Token: k.token, Reason: history.Expired,
	})
	if e.node.peer != nil && e.node.peer.keeps(e.resource, k.token) && !k.counter {
		w.write(&history.Event{Time: history.Time(e.at), Kind: history.KeySet, Node: e.node.id, Resource: e.resource, Token: k.token})
	}
}

// catchUp writes what has come due by itself: expiries and lapses, in the order
// of their times.
func (w *World) catchUp() {
	w.expireKeys()
	w.leaseExpiries.Flush(w.time())
}
