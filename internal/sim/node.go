package sim

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// node is one Redis master: a key store whose keys expire by its wall clock, behind a
// server.
type node struct {
	id       int
	wall     world.Clock
	mono     world.Clock // of the store
	keys     keyspace
	dirty    bool                          // a key has changed since this was last reset
	run      uint64                        // of its server, from 1
	attested map[time.Duration]attestation // that somebody has watched a run for so long
	journal  *journal                      // nil: no fault of the plan takes its changes back
	peer     *node                         // the other of two masters; nil: there is one
	split    *nemesis.SplitBrain           // which of them a client reaches, in the old one
	server
}

// key is the value of a key: the token of a lock, or a counter.
type key struct {
	token   string // in a counter, its digits
	expiry  int64  // the last millisecond of the node's wall clock in which it lives, or unending
	counter bool   // it is one
}

// unending is the expiry of a key without a TTL.
const unending int64 = math.MaxInt64

func (w *World) newNode(id int) node {
	return node{
		id: id, run: 1, wall: world.ClockShowing(epoch), keys: keyspace{names: &w.keyNames},
		server: w.newServer(id),
	}
}

// millis reads the node's clock as Redis does, in whole milliseconds.
func (n *node) millis(now int64) int64 { return n.wall.At(now) / int64(time.Millisecond) }

// execute executes the command of a message.
func (w *World) execute(n *node, m *message) env.Answer {
	command := &m.round.command
	if n.failing != 0 && n.failing.meets(command.Op) {
		return env.Failed
	}
	w.expireKeys()
	held, exists := n.keys.get(m.round.key)
	mine := exists && held.token == command.Token
	switch command.Op {
	case env.OpSet:
		return w.set(n, m, exists)
	case env.OpDelete:
		return w.erase(n, m, mine)
	case env.OpExtend:
		return w.extend(n, m, held, mine)
	case env.OpCount:
		return w.count(m, held)
	case env.OpRaise:
		return w.raise(n, m, held)
	case env.OpVouch:
		n.attest(command, w.now)
		return env.Yes
	}
	return w.executePlain(n, m, held, exists)
}

func (w *World) set(n *node, m *message, exists bool) env.Answer {
	command := &m.round.command
	if command.Vouched > 0 {
		m.setDetail(replyDetail{number: n.runID(command.Vouched)})
	}
	if exists {
		return env.No
	}
	w.create(n, m, n.expiry(w.now, command.TTL))
	return env.Yes
}

// create creates a lock's key as requested by the message.
func (w *World) create(n *node, m *message, expiry int64) {
	command := &m.round.command
	w.put(n, m.round.key, key{token: command.Token, expiry: expiry})
	set := history.Event{Kind: history.KeySet, Node: n.id, Resource: command.Key, Token: command.Token, Client: int(m.client), Sent: history.Time(m.sent), Fault: w.injector.Cause()}
	if expiry == unending {
		set.Detail = history.NoExpiry
	}
	w.Record(set)
}

func (w *World) erase(n *node, m *message, mine bool) env.Answer {
	switch command := &m.round.command; {
	case !mine:
		return env.No
	case n.failing == readOnly:
		return env.Failed
	default:
		w.forget(n, m.round.key, history.Event{Token: command.Token, Reason: history.Deleted, Client: int(m.client)})
		return env.Yes
	}
}

func (w *World) extend(n *node, m *message, held key, mine bool) env.Answer {
	command := &m.round.command
	if !mine {
		return env.No
	}
	if expiry := n.expiry(w.now, command.TTL); held.expiry < expiry {
		if n.failing == readOnly {
			return env.Failed
		}
		held.expiry = expiry
		w.put(n, m.round.key, held)
	}
	w.injector.Record(history.Event{Kind: history.KeyExtended, Node: n.id, Resource: command.Key, Token: command.Token, Client: int(m.client)})
	return env.Yes
}

// expiry returns the last millisecond in which a key with this TTL that is set now exists.
func (n *node) expiry(now int64, ttl time.Duration) int64 {
	return n.millis(now) + ttl.Milliseconds()
}

// put and drop are the only functions that change keys.
func (w *World) put(n *node, number int32, k key) {
	if n.journal != nil {
		w.journalChange(n, number)
	}
	n.keys.put(number, k)
	n.dirty = true
	if k.volatile() {
		w.nextExpiry = min(w.nextExpiry, n.expires(k))
	}
}

func (w *World) drop(n *node, number int32) {
	if n.journal != nil {
		w.journalChange(n, number)
	}
	n.keys.drop(number)
	n.dirty = true
}

// forget deletes a key. The history has no events about counters.
func (w *World) forget(n *node, number int32, gone history.Event) {
	was, _ := n.keys.get(number)
	w.drop(n, number)
	if !was.counter {
		gone.Kind, gone.Node, gone.Fault, gone.Resource = history.KeyGone, n.id, w.injector.Cause(), w.keyNames.list[number]
		w.Record(gone)
		w.showPeer(n, number, gone.Token)
	}
}

// volatile reports whether the key has a TTL.
func (k key) volatile() bool { return k.expiry != unending }

func anyKey(string, key) bool { return true }

// forgetEvery deletes every selected key, in the order of their names.
func (w *World) forgetEvery(n *node, sort func(resource string, k key) bool, reason string) {
	for _, number := range n.keys.inOrder() {
		if k, _ := n.keys.get(number); sort(w.keyNames.list[number], k) {
			w.forget(n, number, history.Event{Token: k.token, Reason: reason})
		}
	}
}

// Keys expire by their node's clock. That costs no events of the queue: keys that are due are
// removed, with their own time, before the next command is executed and before the next event of
// the history is written.

// expires returns the ground time at which a key expires, as the node's clock
// runs now. Like Redis, a node counts a key as expired when its clock shows a
// later millisecond than the expiry.
func (n *node) expires(k key) int64 {
	return n.wall.When((k.expiry + 1) * int64(time.Millisecond))
}

// expiry is a key that has expired.
type expiry struct {
	at   int64 // ground time
	node *node
	key  int32
}

// expireKeys deletes the keys that have expired.
func (w *World) expireKeys() {
	if w.now >= w.nextExpiry {
		w.expireDue()
	}
}

// expireDue is a function of its own so that expireKeys, which mostly has nothing to do,
// is inlined.
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
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.node.id, b.node.id), cmp.Compare(a.node.run, b.node.run), strings.Compare(w.keyNames.list[a.key], w.keyNames.list[b.key]))
	})
	for _, e := range due {
		w.expire(e)
	}
}

// dueOn appends the keys of a master that have expired, and notes when the next one will.
func (w *World) dueOn(n *node, due []expiry) []expiry {
	w.limits.done += int64(n.keys.count / scansPerEvent)
	for number := range n.keys.slots {
		k := &n.keys.slots[number]
		if !k.exists || !k.volatile() {
			continue
		}
		if at := n.expires(k.key); at <= w.now {
			due = append(due, expiry{at, n, int32(number)})
		} else {
			w.nextExpiry = min(w.nextExpiry, at)
		}
	}
	return due
}

func (w *World) expire(e expiry) {
	w.leaseExpiries.Flush(history.Time(e.at))
	k, _ := e.node.keys.get(e.key)
	w.drop(e.node, e.key)
	if k.counter {
		return
	}
	w.write(&history.Event{
		Time: history.Time(e.at), Kind: history.KeyGone,
		Node: e.node.id, Resource: w.keyNames.list[e.key], Token: k.token, Reason: history.Expired,
	})
	if e.node.peer != nil && e.node.peer.keeps(e.key, k.token) && !k.counter {
		w.write(&history.Event{Time: history.Time(e.at), Kind: history.KeySet, Node: e.node.id, Resource: w.keyNames.list[e.key], Token: k.token})
	}
}

// catchUp records the expiries of keys and leases that are due, in the order of their
// times.
func (w *World) catchUp() {
	w.expireKeys()
	w.leaseExpiries.Flush(w.time())
}
