package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/choice"
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
	behind   *stateMachine                 // of the store, since when it does not follow the leader; nil: it follows
	server
}

func (w *World) newNode(id int) node {
	return node{
		id: id, run: 1, wall: world.ClockShowing(epoch), keys: keyspace{names: &w.keyNames},
		server: w.newServer(id),
	}
}

// millis reads the node's clock as Redis does, in whole milliseconds.
func (n *node) millis(now int64) int64 { return n.wall.At(now) / int64(time.Millisecond) }

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
	if k.counter && w.counted != nil {
		w.counted(n.id, w.keyNames.list[number], k.count())
	}
	if k.volatile() {
		w.nextExpiry = min(w.nextExpiry, n.expires(k))
	}
}

func (w *World) drop(n *node, number int32) {
	if n.journal != nil {
		w.journalChange(n, number)
	}
	if k, _ := n.keys.get(number); k.counter && w.counted != nil {
		w.counted(n.id, w.keyNames.list[number], 0)
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

// ends returns the same for the history: 0 if the key does not expire.
func (n *node) ends(k key) history.Time {
	if !k.volatile() {
		return 0
	}
	if at := n.expires(k); at != math.MaxInt64 {
		return history.Time(at)
	}
	return 0
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
	if n.frozen {
		return due
	}
	for number := range n.keys.slots {
		k := &n.keys.slots[number]
		if !k.exists || !k.volatile() {
			continue
		}
		if at := max(n.expires(k.key), n.thawed); at <= w.now {
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
		kept, _ := e.node.peer.keys.get(e.key)
		w.write(&history.Event{Time: history.Time(e.at), Kind: history.KeySet, Node: e.node.id, Resource: w.keyNames.list[e.key], Token: k.token, Ends: e.node.peer.ends(kept)})
	}
}

// attestation records which run a client has watched, and when it said so.
type attestation struct {
	run uint64
	at  int64 // ground time
}

// keeps reports whether a master has a key with that token.
func (n *node) keeps(number int32, token string) bool {
	k, exists := n.keys.get(number)
	return exists && k.token == token
}

// showKept records that a node has a key which no client has set there.
func (w *World) showKept(n *node, number int32, token string) {
	if k, _ := n.keys.get(number); !k.counter {
		w.injector.Record(history.Event{Kind: history.KeySet, Node: n.id, Resource: w.keyNames.list[number], Token: token, Ends: n.ends(k)})
	}
}

// showPeer records that a key which one of two masters has lost is still on the other.
func (w *World) showPeer(n *node, number int32, token string) {
	if n.peer != nil && n.peer.keeps(number, token) {
		w.showKept(n.peer, number, token)
	}
}

// journalChange records a key that is about to change.
func (w *World) journalChange(n *node, number int32) {
	j := n.journal
	before, existed := n.keys.get(number)
	c := change{at: w.now, key: number, before: before, existed: existed}
	if j.lag != nil {
		j.arrived = max(j.arrived, w.now+int64(j.lag.Draw(j.random.fixed())))
		c.arrives = j.arrived
	}
	j.changes = append(j.changes, c)
}

// server is the process between the network and a node's keys. It has one thread, and can
// be down, be stopped, wait for its disk, or answer with errors.
type server struct {
	down      bool
	unpowered bool // it is down because its machine has no power, so connections are not refused
	stopped   bool
	forGood   bool  // it will stay dark, or stopped
	frozen    bool  // it is stopped, and its keys do not expire meanwhile
	thawed    int64 // ground time at which they last began to expire again
	failing   cause // what it answers with in place of doing its work; 0: nothing

	syncing   bool           // it waits for its disk
	answering int32          // the message that it has executed and not answered, or nothing
	evicting  eviction       // that waits for its thread
	waiting   []int32        // messages in its socket, in their order
	fsync     *nemesis.Table // how long it waits for its disk; nil: not at all
	random    *source        // of those waits

	scriptMissing [env.Ops]bool // by operation: its script has to be loaded first
	stops         int
	recovery      recovery // while it is down
}

const noMessage int32 = -1

func (w *World) newServer(node int) server {
	v := server{answering: noMessage}
	if s := &w.setting; s.Sync != nil && s.Persistence == nemesis.Always {
		v.fsync, v.random = s.Sync.Table(), w.source(choice.ForSyncWaits, 0, fmt.Sprintf("syncs of node %d", node))
	}
	return v
}

// recovery says how a server that is down starts again.
type recovery struct {
	left    string // which keys it still has, for the report
	fault   int    // number of the fault that the machine ends itself; 0: the plan ends it
	at      int64  // restart time on the node's wall clock, if the machine restarts it
	checkAt int64  // ground time of the next check of that clock

	state snapshot // to which a vm-restore restores the machine
}

// snapshot is the state of a node at a ground time, and its position in the journal.
type snapshot struct {
	at       int64
	position int
}

// eviction is the eviction that a fault has requested of a node.
type eviction struct {
	of    *nemesis.Evict // nil: nothing
	fault int
}

// takes reports whether the eviction removes a key.
func (e eviction) takes(resource string, k key) bool {
	if e.of.Resource != "" && resource != e.of.Resource {
		return false
	}
	return e.of.Policy == nemesis.AllKeys || k.volatile()
}
