package memory

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/keywatch"
)

// keys are a node's keys as the history knows them: strings with a time to live, and those without one
// whose name is that of a lock. Others are counters or data. They are used by whoever holds the node's
// thread lock.
type keys struct {
	node        int
	tell        func(e history.Event, sent env.Instant) // nil: keys are not recorded
	known       map[keyID]key
	locks       map[string]bool // names of keys that had a time to live, or were set if they were absent
	expiryTimer *time.Timer     // fires when the next key expires
	seen        int64           // the tick of the node's clock at the last look, ms
}

// keyID identifies a key.
type keyID struct {
	db   int
	name string
}

type key struct {
	token  string
	expiry int64 // the last millisecond of its life, by the node's clock, or unending
}

// unending is the expiry of a key without a time to live.
const unending int64 = math.MaxInt64

// detail says in the history that the key has no expiry.
func (k key) detail() string {
	if k.expiry == unending {
		return history.NoExpiry
	}
	return ""
}

// ends returns when the key expires, an instant of the machine's monotonic clock; 0: it does not.
func (n *node) ends(k key) history.Time {
	if k.expiry == unending {
		return 0
	}
	return history.Time(n.clock.when(k.expiry + 1))
}

// note notes the keys that a command sets if they are absent, as locks do. A lock that gives its key a
// time to live by a second command may fail in between. Counters are no locks.
func (k *keys) note(words []string) {
	args := words[1:]
	for _, name := range keywatch.SetIfAbsent(words[0], args) {
		k.locks[name] = true
	}
	switch words[0] {
	case "INCR", "INCRBY", "INCRBYFLOAT", "DECR", "DECRBY":
		if len(args) > 0 {
			delete(k.locks, args[0])
		}
	}
}

// cause is why keys have changed.
type cause struct {
	client int         // the client that sent the command; 0: there was none
	sent   env.Instant // when it did
	reason string      // why keys are gone if neither a command nor expiry removed them
}

// cause returns the cause of changes made by the connection's current command. A nil
// connection has no client.
func (c *conn) cause() cause {
	if c == nil {
		return cause{}
	}
	return cause{client: c.client, sent: c.sent}
}

// newKeys returns the keys of an empty node. ending is called when one expires.
func newKeys(node int, ending func()) *keys {
	k := &keys{node: node, known: map[keyID]key{}, locks: map[string]bool{}, expiryTimer: time.AfterFunc(math.MaxInt64, ending)}
	k.expiryTimer.Stop()
	return k
}

// expire records keys that have expired.
func (n *node) expire() {
	n.thread.Lock()
	defer n.thread.Unlock()
	n.clock.tick()
	n.look(cause{})
}

// look records how the node's keys have changed since the last look, and why.
func (n *node) look(by cause) {
	k := n.keys
	if k.tell == nil {
		return
	}
	now := n.clock.lastTick()
	k.seen = now
	there := n.present(now)
	for _, at := range sortedIDs(k.known) {
		was := k.known[at]
		is, stays := there[at]
		switch {
		case !stays:
			k.gone(at, was, by, now)
		case is.token != was.token:
			k.record(history.Event{Kind: history.KeyGone, Reason: history.Overwritten}, at, was, by)
			k.record(history.Event{Kind: history.KeySet, Ends: n.ends(is), Detail: is.detail()}, at, is, by)
		case is.expiry != was.expiry:
			k.record(history.Event{Kind: history.KeyExtended, Ends: n.ends(is), Detail: is.detail()}, at, is, by)
		}
	}
	for _, at := range sortedIDs(there) {
		if _, old := k.known[at]; !old {
			k.record(history.Event{Kind: history.KeySet, Ends: n.ends(there[at]), Detail: there[at].detail()}, at, there[at], by)
		}
	}
	k.known = there
	n.awaitEnd()
}

// present returns the keys of the server.
func (n *node) present(now int64) map[keyID]key {
	there := map[keyID]key{}
	for number := range databases {
		db := n.redis.DB(number)
		for _, name := range db.Keys() {
			left := db.TTL(name)
			token, err := db.Get(name)
			switch {
			case err != nil:
			case left > 0:
				n.keys.locks[name] = true
				there[keyID{number, name}] = key{token, now + wholeMilliseconds(left).Milliseconds()}
			case n.keys.locks[name]:
				there[keyID{number, name}] = key{token, unending}
			}
		}
	}
	return there
}

// sortedIDs returns the IDs in a fixed order.
func sortedIDs(of map[keyID]key) []keyID {
	return slices.SortedFunc(maps.Keys(of), func(a, b keyID) int {
		return cmp.Or(cmp.Compare(a.db, b.db), cmp.Compare(a.name, b.name))
	})
}

func (k *keys) gone(at keyID, was key, by cause, now int64) {
	e := history.Event{Kind: history.KeyGone, Reason: cmp.Or(by.reason, history.Deleted)}
	if was.expiry < now {
		e.Reason, by.client = history.Expired, 0
	}
	k.record(e, at, was, by)
}

func (k *keys) record(e history.Event, at keyID, what key, by cause) {
	e.Node, e.Resource, e.Token, e.Client = k.node, at.name, what.token, by.client
	k.tell(e, by.sent)
}

// awaitEnd sets the timer for the next key that expires.
func (n *node) awaitEnd() {
	first := unending
	for _, key := range n.keys.known {
		first = min(first, key.expiry)
	}
	n.keys.expiryTimer.Stop()
	if first == unending {
		return
	}
	if wait := n.clock.until(first + 1); wait < math.MaxInt64 {
		n.keys.expiryTimer.Reset(max(wait, 0))
	}
}
