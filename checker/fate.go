package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// loss is a key of a hold that went away before its holder let go.
type loss struct {
	node   int
	reason string
	at     history.Time
	client int           // who deleted or overwrote it, or gave it the life that was over, if not the holder
	early  time.Duration // by how much the key was short of its life, at least; of one that expired
	back   bool          // the node came back after the key had been given that life
}

// renewal is when a node was last told to keep a key for longer.
type renewal struct {
	node   int
	client int
	at     history.Time
	ttl    time.Duration
}

// lose takes note that a node has lost the hold's key.
func (l *ledger) lose(k keyChange) {
	h := k.hold
	if h.letGo || k.reason == history.Deleted && k.client == h.client.number {
		return
	}
	v := loss{node: k.node, reason: k.reason, at: k.at, client: k.client}
	if k.reason == history.Expired {
		given := renewal{client: h.client.number, at: h.acquire.at, ttl: h.ttl}
		for _, r := range h.fate().renewed {
			if r.node == k.node {
				given = r
			}
		}
		if given.client != h.client.number {
			v.client = given.client
		}
		v.early = given.at.Add(given.ttl).Sub(k.at)
		v.back = since(l.started, k.node, given.at)
	}
	h.fate().lost = append(h.fate().lost, v)
}

// fate is what became of the keys of a hold, or of its entry in a store, in ways that
// few have.
type fate struct {
	entry   entry
	lost    []loss    // before its holder let go
	renewed []renewal // by node
}

func (h *hold) fate() *fate {
	if h.keys.fate == nil {
		h.keys.fate = &fate{}
	}
	return h.keys.fate
}

// renewKey takes note that a node keeps the hold's key for longer.
func (h *hold) renewKey(k keyChange) {
	f, ttl := h.fate(), h.asked
	if ttl == 0 {
		ttl = h.ttl
	}
	f.renewed = without(f.renewed, func(r *renewal) bool { return r.node == k.node })
	f.renewed = append(f.renewed, renewal{node: k.node, client: k.client, at: k.at, ttl: ttl})
}

// foreign reports whether the key expired as another client had asked for.
func (v loss) foreign() bool { return v.reason == history.Expired && v.client != 0 }

// restored reports whether the node came back with an expiry from before.
func (v loss) restored() bool { return v.short() && v.back && !v.foreign() }

// short reports whether the key expired before its time.
func (v loss) short() bool { return v.reason == history.Expired && v.early > noticeable }
