package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
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
func outlived(h *hold, needed electorate, now history.Time) *outlivedTry {
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
	if o := p.of(r).outlived; o != nil && o.at > from {
		return o
	}
	for _, h := range r.holds {
		if h.acquire.open {
			if o := outlived(h, p.needed, now); o != nil {
				return o
			}
		}
	}
	return nil
}

func (o *outlivedTry) statement() Statement {
	return Statement{Kind: TryOutlived, Client: o.client, Call: o.call, At: o.at, More: o.open, For: o.took, TTL: o.ttl, Nodes: o.nodes.listed(nil)}
}
