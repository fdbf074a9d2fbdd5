package redisnode

import (
	"slices"
	"time"
)

// This file gives requests up. One alarm does so for all that are under way to a node, or
// wait.

// grain is how much later than it should a request may be given up, so that many are at
// once: where a node is dead and clients are many there are thousands.
const grain = time.Millisecond

// setAlarm has ring called at an instant, or before; zero is never.
func (n *node) setAlarm(at time.Time) {
	if at.IsZero() || !n.rings.IsZero() && !at.Before(n.rings) {
		return
	}
	n.rings = at
	n.alarm.Reset(time.Until(at))
}

// ring gives up the requests whose time has come, and sends those that have waited for
// long enough.
func (n *node) ring() {
	for _, r := range n.overdue() {
		if r.sent {
			n.tell(r, n.late)
		} else {
			n.tell(r, n.unsent)
		}
	}
}

func (n *node) overdue() []*request {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	n.rings = time.Time{}
	late := n.giveUp(now)
	if heard := n.moved.Add(n.patience()); !n.due.IsZero() && n.due.Before(heard) {
		n.due = heard
	}
	if !n.due.IsZero() && !n.due.After(now) {
		if n.due = (time.Time{}); len(n.waiting) > 0 && n.busy < n.limit {
			n.employ()
		}
	}
	n.setAlarm(n.due)
	return late
}

// giveUp takes the requests away whose time has come, and sets the alarm for the next.
func (n *node) giveUp(now time.Time) (late []*request) {
	var soonest time.Time
	for r := n.open; r != nil; {
		next := r.next
		switch {
		case r.deadline.IsZero():
		case !r.deadline.After(now):
			n.leave(r)
			late = append(late, r)
		case soonest.IsZero() || r.deadline.Before(soonest):
			soonest = r.deadline
		}
		r = next
	}
	if late != nil {
		n.forget()
	}
	if least := now.Add(grain); !soonest.IsZero() && soonest.Before(least) {
		soonest = least
	}
	n.setAlarm(soonest)
	return late
}

// forget drops those that wait and have been given up.
func (n *node) forget() {
	n.waiting = slices.DeleteFunc(n.waiting, func(r *request) bool { return r.answered })
}
