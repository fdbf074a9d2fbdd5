package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// keyLoss is a key that a node lost before its holder released it.
type keyLoss struct {
	node   int
	reason string
	at     history.Time
	client int           // the client that deleted or overwrote it, or set its TTL, if not the holder
	early  time.Duration // by how much the key expired early, at least
	back   bool          // the node came back after the TTL was set
}

// renewal is the last request by which a node extended a key.
type renewal struct {
	node   int
	client int
	at     history.Time
	ttl    time.Duration
}

// lose notes that a node has lost the hold's key.
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

// keyHistory is what happened to the keys of a hold, or to its entry in a store, other than
// by its holder. Few holds have one.
type keyHistory struct {
	entry   entry
	lost    []keyLoss // before its release
	renewed []renewal // by node
}

func (h *hold) history() *keyHistory {
	if h.keys.fate == nil {
		h.keys.fate = &keyHistory{}
	}
	return h.keys.fate
}

// keyRenewed notes that a node extended the hold's key.
func (h *hold) keyRenewed(k keyChange) {
	f, ttl := h.history(), h.asked
	if ttl == 0 {
		ttl = h.ttl
	}
	f.renewed = without(f.renewed, func(r *renewal) bool { return r.node == k.node })
	f.renewed = append(f.renewed, renewal{node: k.node, client: k.client, at: k.at, ttl: ttl})
}

// foreign reports whether the key expired because another client had set its TTL.
func (v keyLoss) foreign() bool { return v.reason == history.Expired && v.client != 0 }

// restored reports whether the node came back with an expiry from before.
func (v keyLoss) restored() bool { return v.short() && v.back && !v.foreign() }

// short reports whether the key expired before its time.
func (v keyLoss) short() bool { return v.reason == history.Expired && v.early > noticeable }
