package checker

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// instant collects the events of one instant for the checker of deadlock freedom, because they
// may come in any order.
type instant struct {
	now history.Time

	called  []*hold // tries
	granted []*hold
	refused []*hold
	left    []*hold // holds whose release has returned, and tries that entered a hold again
	freed   []*hold // holds that may have ended
	keys    []keyNews

	began  bool // a fault or one of its effects
	ended  bool
	starts []int // numbers of faults
	ends   []int
	died   []*client
}

// keyNews is a key that a node set, lost or extended.
type keyNews struct {
	resource *resource
	node     int
	set      bool
	expired  bool
	extended int // the client that extended it; 0: it was set or lost
}

func (n *instant) add(f *fact, l *state) {
	n.now = f.Time
	switch f.Kind {
	case history.Acquire, history.Granted, history.Refused, history.Release, history.Released, history.Lost, history.Lapse:
		if f.hold != nil {
			n.addHold(f.Kind, f.hold)
		}
	case reentered:
		n.left = append(n.left, f.try)
	case history.KeySet, history.KeyGone:
		n.keys = append(n.keys, keyNews{resource: l.resource(f.Resource), node: f.Node, set: f.Kind == history.KeySet, expired: f.Reason == history.Expired})
	case history.KeyExtended:
		n.keys = append(n.keys, keyNews{resource: l.resource(f.Resource), node: f.Node, extended: f.Client})
	default:
		n.addFault(f)
	}
}

func (n *instant) addHold(kind history.Kind, h *hold) {
	switch kind {
	case history.Acquire:
		n.called = append(n.called, h)
	case history.Granted:
		n.granted = append(n.granted, h)
	case history.Refused:
		n.refused = append(n.refused, h)
	case history.Released:
		n.left = append(n.left, h)
	default:
		n.freed = append(n.freed, h)
	}
}

func (n *instant) addFault(f *fact) {
	switch f.Kind {
	case history.Kill:
		n.died = append(n.died, f.client)
		n.began = true
	case history.FaultStart:
		n.starts = append(n.starts, f.Fault)
		n.began = true
	case history.NodeDown, history.LinkDown, history.Pause:
		n.began = true
	case history.FaultEnd:
		n.ends = append(n.ends, f.Fault)
		n.ended = true
	default:
		n.ended = true
	}
}

// grants reports whether somebody was granted the resource.
func (n *instant) grants(r *resource) bool {
	return slices.ContainsFunc(n.granted, func(h *hold) bool { return h.resource == r })
}

// clear keeps the lists for the next instant.
func (n *instant) clear() {
	*n = instant{
		called: n.called[:0], granted: n.granted[:0], refused: n.refused[:0], left: n.left[:0],
		freed: n.freed[:0], keys: n.keys[:0], starts: n.starts[:0], ends: n.ends[:0], died: n.died[:0],
	}
}
