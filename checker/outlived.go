package checker

import (
	"github.com/lockstorm/lockstorm/internal/timeline"

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
	nodes    timeline.Nodes // whose keys expired
}

// outlived returns the try as one that took longer than its TTL, or nil. Its keys must have
// expired on a quorum, each after its whole TTL.
func outlived(h *timeline.Hold, needed timeline.Electorate, now history.Time) *outlivedTry {
	took := h.Acquire.Took(h.Client, now)
	if h.Keys.Past == nil || h.TTL == 0 || took <= h.TTL {
		return nil
	}
	var gone timeline.Nodes
	for _, v := range h.Keys.Past.Lost {
		if v.Reason == history.Expired && !v.Foreign() && !v.Short() {
			gone = gone.With(v.Node)
		}
	}
	if !needed.Quorum(gone) {
		return nil
	}
	return &outlivedTry{client: h.Client.Number, call: h.Acquire.At, at: now, open: h.Acquire.Open, took: took, ttl: h.TTL, nodes: gone}
}

// lastOutlived returns the last try since an instant that took longer than its TTL, or nil.
// Tries under way count, too.
func (p *progress) lastOutlived(r *timeline.Resource, from, now history.Time) *outlivedTry {
	if o := p.of(r).outlived; o != nil && o.at > from {
		return o
	}
	for _, h := range r.Holds {
		if h.Acquire.Open {
			if o := outlived(h, p.needed, now); o != nil {
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
	e := Event{Role: RoleWait, From: o.call, To: o.at, Client: o.client, Nodes: listNodes(o.nodes, nil)}
	return e.say("client %d's try, called at %s, %s %s, longer than its TTL, %v: %s on %v %s",
		o.client, at(o.call), took, textfmt.FourDigits(o.took), o.ttl, textfmt.Plural(o.nodes.Count(), "its key"), o.nodes, gone)
}
