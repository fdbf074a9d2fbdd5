package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// keyLoss is a key of a hold that went away before its holder let go.
type keyLoss struct {
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
func (l *state) lose(k keyChange) {
	h := k.hold
	if h.letGo || k.reason == history.Deleted && k.client == h.client.number {
		return
	}
	v := keyLoss{node: k.node, reason: k.reason, at: k.at, client: k.client}
	if k.reason == history.Expired {
		given := renewal{client: h.client.number, at: h.acquire.at, ttl: h.ttl}
		for _, r := range h.history().renewed {
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
	h.history().lost = append(h.history().lost, v)
}

// keyHistory is what became of the keys of a hold, or of its entry in a store, in ways that
// few have.
type keyHistory struct {
	entry   entry
	lost    []keyLoss // before its holder let go
	renewed []renewal // by node
}

func (h *hold) history() *keyHistory {
	if h.keys.fate == nil {
		h.keys.fate = &keyHistory{}
	}
	return h.keys.fate
}

// keyRenewed takes note that a node keeps the hold's key for longer.
func (h *hold) keyRenewed(k keyChange) {
	f, ttl := h.history(), h.asked
	if ttl == 0 {
		ttl = h.ttl
	}
	f.renewed = without(f.renewed, func(r *renewal) bool { return r.node == k.node })
	f.renewed = append(f.renewed, renewal{node: k.node, client: k.client, at: k.at, ttl: ttl})
}

// foreign reports whether the key expired as another client had asked for.
func (v keyLoss) foreign() bool { return v.reason == history.Expired && v.client != 0 }

// restored reports whether the node came back with an expiry from before.
func (v keyLoss) restored() bool { return v.short() && v.back && !v.foreign() }

// short reports whether the key expired before its time.
func (v keyLoss) short() bool { return v.reason == history.Expired && v.early > noticeable }
