package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// upkeep judges, for the contract, what one node, or a clock that the lock does not read, must not do to a
// hold:
//   - a release returns soon after a quorum of nodes has deleted the keys, whatever the others do. Only
//     nodes count that were in the client's reach since the call;
//   - a lock that extends its holds by itself goes on to do so until they are over.
//
// The time in which the client was paused does not count.
type upkeep struct {
	contract  *contract
	deletions timeline.PerHold[[]NodeTime] // for a release that has not returned, in the order of time
	renewals  timeline.PerHold[renewal]
	late      []lateRenewal // of this instant
}

// lateRenewal is a hold that was not extended in time. It counts unless its client dies in this instant.
type lateRenewal struct {
	hold  *timeline.Hold
	since history.Time
	took  time.Duration
}

// renewal is when a hold was granted, or extended last.
type renewal struct {
	timeline.Call
	over bool // it need not be extended any more
}

// deleted notes that a node has deleted a key of a hold that its holder releases.
func (u *upkeep) deleted(k *timeline.KeyChange) {
	if h := k.Hold; u.contract.header.Bounds.Quorum > 0 && h != nil && h.Release.Open && k.Client == h.Client.Number {
		list := u.deletions.Of(h)
		*list = append(*list, NodeTime{k.Node, k.At})
	}
}

// released judges how long a release went on after a quorum had deleted the keys.
func (u *upkeep) released(f *timeline.Fact) {
	c, h, bound := u.contract, f.Hold, u.contract.header.Bounds.Quorum
	if bound == 0 || h == nil || !c.exact {
		return
	}
	var done timeline.Nodes
	for _, d := range *u.deletions.Of(h) {
		if n := d.Node; !c.timeline.Down.Has(n) && !h.Client.Unlinked.Has(n) &&
			!timeline.HappenedSince(h.Client.Relinked, n, f.Call.At) && !timeline.HappenedSince(c.timeline.Started, n, f.Call.At) {
			done = done.With(n)
		}
		if !c.quorum.Quorum(done) {
			continue
		}
		if late := f.Time.Sub(d.At); late > bound && h.Client.PauseChanged < d.At {
			c.violate(ReturnsInTime, calling(f), func() []Event {
				e := returning(f, RoleWait)
				e.Nodes = listNodes(done, nil)
				return []Event{e.say("client %d called release of %s at %s; %v, a quorum, had deleted the key by %s, and it returned only %s later, more than %v",
					e.Client, e.lock(), at(e.From), done, at(d.At), textfmt.FourDigits(late), bound)}
			})
		}
		return
	}
}

// renewing are the kinds of events by which holds are extended, or end.
var renewing = timeline.KindSet(history.Granted, history.Extend, history.Extended, history.ExtendFailed,
	history.Expiring, history.Lost, history.Lapse, history.Release)

// follow follows when a hold is extended.
func (u *upkeep) follow(f *timeline.Fact) {
	h := f.Hold
	if h == nil || h.Client.Dead || !renewing.Has(f.Kind) {
		return
	}
	r := u.renewals.Of(h)
	switch f.Kind {
	case history.Granted, history.Extended, history.ExtendFailed:
		r.Call = timeline.Call{Open: true, At: f.Time, Paused: h.Client.PausedUpTo(f.Time)}
	default:
		if took := r.Took(h.Client, f.Time); r.Open && !r.over && took > u.contract.header.Bounds.Renew {
			u.late = append(u.late, lateRenewal{h, r.At, took})
		}
		r.Open, r.over = false, r.over || f.Kind != history.Extend
	}
}

// settle reports the holds that were not extended in time.
func (u *upkeep) settle(now history.Time) {
	for _, l := range u.late {
		if l.hold.Client.Dead {
			continue
		}
		u.contract.violate(RenewsHolds, placeOfHold(l.hold, l.since, now), func() []Event {
			e := during(l.hold, RoleWait, l.since, now)
			return []Event{e.say("client %d held %s, which was granted or extended last at %s, and was not extended again up to %s, for %s, more than %v",
				e.Client, e.lock(), at(l.since), at(now), textfmt.FourDigits(l.took), u.contract.header.Bounds.Renew)}
		})
	}
	u.late = u.late[:0]
}
