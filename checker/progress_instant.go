package checker

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// instant collects the events of one instant for the checker of deadlock freedom, because they
// may come in any order.
type instant struct {
	now  history.Time
	more bool // more happens than changes of keys

	called  []*timeline.Hold // tries
	granted []*timeline.Hold
	refused []refusal
	left    []*timeline.Hold // holds whose release has returned, and tries that entered a hold again
	freed   []freed
	keys    []keyNews

	began  []concern // things that faults do
	ended  []concern
	starts []*ongoingFault
	over   []*ongoingFault
	shown  []int              // numbers of faults that show what they do
	mended []cutLinks         // links that are up again
	linked []*timeline.Client // clients of which a link has changed
	died   []*timeline.Client
}

// refusal is a try that was refused.
type refusal struct {
	hold   *timeline.Hold
	reason string
}

// freed is a hold that may have ended.
type freed struct {
	hold *timeline.Hold
	by   history.Kind
}

// Observe notes what happens in the instant.
func (p *progress) Observe(f *timeline.Fact) {
	n := &p.instant
	n.now = f.Time
	switch f.Kind {
	case history.KeySet, history.KeyGone, history.KeyExtended:
		n.keys = append(n.keys, keyNews{
			resource: f.Locked, node: f.Node, token: f.Token, client: f.Client, kind: f.Kind,
			expired: f.Reason == history.Expired, endless: f.Detail == history.NoExpiry,
		})
		return
	}
	n.more = true
	switch f.Kind {
	case history.Acquire, history.Granted, history.Refused, history.Release, history.Released, history.Lost, history.Lapse:
		if f.Hold != nil {
			n.addHold(f)
		}
	case timeline.Reentered:
		n.left = append(n.left, f.Try)
	case history.EntriesSeen:
		if f.Silence() > p.patience() {
			n.ended = append(n.ended, concern{everybody: f.Node == 0 || p.excuses.voters.Has(f.Node)})
		}
	default:
		p.observeFault(f)
	}
}

func (n *instant) addHold(f *timeline.Fact) {
	switch f.Kind {
	case history.Acquire:
		n.called = append(n.called, f.Hold)
	case history.Granted:
		n.granted = append(n.granted, f.Hold)
	case history.Refused:
		n.refused = append(n.refused, refusal{f.Hold, f.Reason})
	case history.Released:
		n.left = append(n.left, f.Hold)
	default:
		n.freed = append(n.freed, freed{f.Hold, f.Kind})
	}
}

// observeFault notes what befalls nodes, clients and links.
func (p *progress) observeFault(f *timeline.Fact) {
	n, x := &p.instant, &p.excuses
	var c concern
	switch f.Kind {
	case history.FaultStart:
		n.starts = append(n.starts, x.starts(f))
		return
	case history.FaultEnd:
		if over := x.ends(f); over != nil {
			n.over = append(n.over, over)
		}
		return
	case history.NodeDown, history.NodeUp:
		c.everybody = x.voters.Has(f.Node)
	case history.LinkDown, history.LinkUp:
		n.linked = append(n.linked, f.Actor)
		if x.voters.Has(f.Node) {
			c.client = f.Actor
		}
		if f.Kind == history.LinkUp && f.LinkChanged {
			n.mended = append(n.mended, cutLinks{f.Actor, timeline.Node(f.Node)})
		}
	case history.Kill:
		n.died = append(n.died, f.Actor)
		c.client = f.Actor
	default:
		c.client = f.Actor
	}
	if f.Fault != 0 {
		n.shown = append(n.shown, f.Fault)
	}
	if c.none() {
		return
	}
	switch f.Kind {
	case history.NodeUp, history.LinkUp, history.Resume, history.Cancel:
		n.ended = append(n.ended, c)
	default:
		n.began = append(n.began, c)
	}
}

// grants reports whether somebody was granted the resource.
func (n *instant) grants(r *timeline.Resource) bool {
	return slices.ContainsFunc(n.granted, func(h *timeline.Hold) bool { return h.Resource == r })
}

// clear keeps the lists for the next instant.
func (n *instant) clear() {
	n.called, n.granted, n.refused, n.left = n.called[:0], n.granted[:0], n.refused[:0], n.left[:0]
	n.more, n.freed, n.died = false, n.freed[:0], n.died[:0]
	n.began, n.ended, n.starts, n.over = n.began[:0], n.ended[:0], n.starts[:0], n.over[:0]
	n.shown, n.mended, n.linked = n.shown[:0], n.mended[:0], n.linked[:0]
}
