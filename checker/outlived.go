package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// outlivedTry is a try that took longer than its TTL: the keys that it had set expired before
// it returned, so no lock could grant it any more.
type outlivedTry struct {
	client   int
	call, at history.Time // at is when it returned, or when it was still open
	open     bool
	took     time.Duration
	ttl      time.Duration
	nodes    nodes // whose keys expired
}

// outlived returns the try as one that took longer than its TTL, or nil. Its keys must have
// expired on a quorum, each after its whole TTL.
func (h *hold) outlived(needed electorate, now history.Time) *outlivedTry {
	took := h.acquire.took(h.client, now)
	if h.keys.fate == nil || h.ttl == 0 || took <= h.ttl {
		return nil
	}
	var gone nodes
	for _, v := range h.keys.fate.lost {
		if v.reason == history.Expired && !v.foreign() && !v.short() {
			gone = gone.with(v.node)
		}
	}
	if !needed.has(gone) {
		return nil
	}
	return &outlivedTry{client: h.client.number, call: h.acquire.at, at: now, open: h.acquire.open, took: took, ttl: h.ttl, nodes: gone}
}

// lastOutlived returns the last try since an instant that took longer than its TTL, or nil.
// Tries under way count, too.
func (p *progress) lastOutlived(r *resource, from, now history.Time) *outlivedTry {
	if o := r.waiting.outlived; o != nil && o.at > from {
		return o
	}
	for _, h := range r.holds {
		if h.acquire.open {
			if o := h.outlived(p.needed, now); o != nil {
				return o
			}
		}
	}
	return nil
}

func (o *outlivedTry) event() Event {
	took, gone := "took", "expired before it returned"
	if o.open {
		took, gone = "has taken", "expired already"
	}
	e := Event{Role: RoleWait, From: o.call, To: o.at, Client: o.client, Nodes: o.nodes.listed(nil)}
	return e.say("client %d's try, called at %s, %s %s, longer than its TTL, %v: %s on %v %s",
		o.client, at(o.call), took, span4(o.took), o.ttl, textfmt.Plural(o.nodes.count(), "its key"), o.nodes, gone)
}
