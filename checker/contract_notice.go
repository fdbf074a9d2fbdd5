package checker

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
	"github.com/lockstorm/lockstorm/nemesis"
)

// lossNotice is what is known about when a holder has to learn that its hold has ended.
//
// The lock promises a TTL, counted from when it read its clock before sending requests.
// After that much true time the hold has ended, whatever other clocks say. The declared end
// of validity is earlier, by the drift allowance. A running holder has to learn of the end
// within the bound: its context ends, and the declared end of validity comes. If it was
// paused, the bound counts from its resume. A check has to answer correctly at once.
type lossNotice struct {
	given  bool
	end    history.Time // when the TTL ends, at the latest
	since  history.Time // when it was granted
	told   bool         // its context has ended
	toldAt history.Time // when it was last told
	lost   bool         // it was told of the loss, which is final
	lostAt history.Time
	blamed bool // a violation by this hold was reported

	missing timeline.Nodes // that have lost its key
	gone    bool           // its keys are no longer on a quorum
	goneAt  history.Time   // since then
}

// learning are the kinds of events by which a holder learns of the end, or by which it has
// to have learned of it.
var learning = timeline.KindSet(history.Extend, history.Expiring, history.Lost, history.Release, history.Lapse,
	history.Checked, history.Pause, history.Kill)

// follow follows when holders learn of the end.
func (c *contract) follow(f *timeline.Fact) {
	switch f.Kind {
	case history.Pause, history.Kill, history.End:
		c.stopped(f)
		return
	}
	h := f.Hold
	if h == nil {
		return
	}
	switch f.Kind {
	case history.Granted:
		c.leased(h, f.Time)
	case timeline.Reentered:
		c.notices.Of(h).renew(f.Time, f.Time.Add(h.TTL))
	case history.Extended:
		c.notices.Of(h).renew(f.Time, f.Time.Add(extendedBy(f)-f.Took))
	case history.Extend, history.Release:
		c.untold(h, f.Time)
	case history.Expiring, history.Lost:
		c.untold(h, f.Time)
		c.notices.Of(h).tell(f)
	case history.Lapse:
		c.lapsed(f)
	case history.Checked:
		c.checked(f)
	}
}

// stopped judges the holds of clients that stop running.
func (c *contract) stopped(f *timeline.Fact) {
	if f.Kind != history.End {
		c.untoldAll(f.Actor, f.Time)
		return
	}
	for _, who := range c.timeline.Clients {
		c.untoldAll(who, f.Time)
	}
}

// leased notes a grant. The TTL counts from when the lock read its clock, if the try states
// that. For a lock in a store it counts from the grant, because the session may have been
// kept alive until then.
func (c *contract) leased(h *timeline.Hold, now history.Time) {
	from := now
	if h.Sending && c.header.Keepers >= 0 {
		from = h.SentAt
	}
	if h.TTL > 0 && !h.Endless() && c.header.Bounds.Notice > 0 {
		n := c.notices.Of(h)
		n.given, n.end, n.since = true, from.Add(h.TTL), now
	}
}

// losing notes whether the keys of a hold are on a quorum after an instant; that they are not is a loss. A holder
// without an end has to learn of it within a TTL, as any other does, and the bound.
func (c *contract) losing(k *timeline.KeyChange) {
	h, n := k.Hold, c.notices.Of(k.Hold)
	if k.Kind == history.KeyGone {
		n.missing = n.missing.With(k.Node)
	}
	switch backed := c.quorum.Quorum(h.Keys.Set); {
	case backed:
		n.gone, n.given = false, n.given && !h.Endless()
	case k.Kind == history.KeyGone && !n.gone:
		n.gone, n.goneAt = true, k.At
		if h.Endless() {
			n.given, n.since, n.end = true, h.GrantedAt, k.At.Add(c.header.LongestTTL)
		}
	}
}

// mayLose reports whether the hold of a key goes on, and its loss has not been reported. Of keys that are recorded late
// that is not known.
func (c *contract) mayLose(k *timeline.KeyChange) bool {
	h := k.Hold
	return c.exact && h != nil && h.Leased() && !h.ReleaseCalled && !h.Lost && h.GrantedAt < k.At
}

// regained judges a key that the lock sets again on a node that has lost it: if the hold was lost meanwhile,
// the holder goes on as if nothing had happened.
func (c *contract) regained(k *timeline.KeyChange) {
	h, n := k.Hold, c.notices.Of(k.Hold)
	if k.Kind != history.KeySet || !n.gone || !n.missing.Has(k.Node) || k.Client != h.Client.Number || !c.quorum.Quorum(h.Keys.Set) {
		return
	}
	n.gone = false
	c.violate(NotifiesOfTheEnd, placeOfHold(h, n.goneAt, k.At), func() []Event {
		e := during(h, RoleLoss, n.goneAt, k.At)
		return []Event{e.say("client %d held %s since %s; from %s on its keys were on no quorum, and at %s the lock set them again, and had not told it of the loss",
			e.Client, e.lock(), at(h.GrantedAt), at(e.From), at(e.To))}
	})
}

// renew notes an extension. A pause during the call does not count, because the lock may
// read its clock after it. A warning before the extension is void, a loss is not. If both
// happened in one instant, the order is unknown and the warning stays.
func (n *lossNotice) renew(now, end history.Time) {
	n.end = max(n.end, end)
	n.told = n.told && (n.lost || n.toldAt == now)
}

func (n *lossNotice) tell(f *timeline.Fact) {
	n.told, n.toldAt = true, f.Time
	if f.Kind == history.Lost && !n.lost {
		n.lost, n.lostAt = true, f.Time
	}
}

// leasedUntil is when the TTL of the last grant or extension ends. An extension under way
// may have been granted already.
func (c *contract) leasedUntil(h *timeline.Hold) history.Time {
	if x := h.Extend; x.Open {
		return max(c.notices.Of(h).end, x.At.Add(h.ExtendTTL+h.Client.PausedFor-x.Paused))
	}
	return c.notices.Of(h).end
}

// knowsFrom is from when the bound counts.
func (c *contract) knowsFrom(h *timeline.Hold) history.Time {
	return max(c.leasedUntil(h), c.notices.Of(h).since, h.Client.Resumed)
}

func (c *contract) untoldAll(who *timeline.Client, now history.Time) {
	for _, h := range who.Holds {
		c.untold(h, now)
	}
}

// untold reports a holder that ran on for too long without a notice.
func (c *contract) untold(h *timeline.Hold, now history.Time) {
	bound := c.noticeBound
	if c.notices.Of(h).told || letGoBefore(h, now) || stoodBefore(h.Client, now) {
		return
	}
	if ran := now.Sub(c.knowsFrom(h)); ran > bound {
		c.tooLate(h, now, func(e Event) Event {
			e.From = now.Add(-ran)
			return e.say("client %d ran on until %s, for %s, more than %s, and its context had not ended", e.Client, at(now), textfmt.FourDigits(ran), bound)
		})
	}
}

func letGoBefore(h *timeline.Hold, now history.Time) bool {
	return h.ReleaseCalled && h.Release.At < now
}

// stoodBefore reports whether the client was paused or dead before an instant. Its holds
// were judged when that began.
func stoodBefore(c *timeline.Client, now history.Time) bool {
	return c.Paused && c.LastPause.From < now || c.Dead && c.Died < now
}

// lapsed reports a declared end of validity that comes too late.
func (c *contract) lapsed(f *timeline.Fact) {
	h, bound := f.Hold, c.header.Bounds.Notice
	lost := c.notices.Of(h).lost && c.notices.Of(h).lostAt < f.Time
	if !h.Expired() || lost || letGoBefore(h, f.Time) || stoodBefore(h.Client, f.Time) {
		return
	}
	if late := f.Time.Sub(c.knowsFrom(h)); late > bound {
		c.tooLate(h, f.Time, func(e Event) Event {
			return e.say("the end of validity that client %d was told came at %s, %s too late, more than %s", e.Client, at(f.Time), textfmt.FourDigits(late), bound)
		})
	}
}

// checked reports a check that answered that the lock is held after the hold had ended.
func (c *contract) checked(f *timeline.Fact) {
	h, asked := f.Hold, f.Call.At
	if f.Outcome == history.OK && asked > c.leasedUntil(h) && !letGoBefore(h, asked) {
		c.tooLate(h, f.Time, func(e Event) Event {
			e.From = asked
			return e.say("client %d asked at %s whether it held the lock, and was told that it did", e.Client, at(asked))
		})
	}
}

// tooLate reports that a holder learned of the end too late, once for each hold.
func (c *contract) tooLate(h *timeline.Hold, now history.Time, how func(Event) Event) {
	if !c.notices.Of(h).given || c.notices.Of(h).blamed {
		return
	}
	c.notices.Of(h).blamed = true
	c.breaches.add(func() Finding {
		held, over := during(h, RoleAccess, h.GrantedAt, c.leasedUntil(h)), c.leasedUntil(h)
		held = held.say("client %d held %s since %s for a time to live that was over at %s", held.Client, held.lock(), at(h.GrantedAt), at(over))
		if n := c.notices.Of(h); h.Endless() {
			held = held.say("client %d held %s since %s without an end, and its keys were on no quorum since %s", held.Client, held.lock(), at(h.GrantedAt), at(n.goneAt))
		}
		late := how(during(h, RoleWait, now, 0))
		faults := eventsOf(c.timeline.Faults.Between(h.Acquire.At, now), timeline.Forever, false)
		where := placeOfHold(h, over, now)
		return Finding{Duty: NotifiesOfTheEnd, Events: append([]Event{held, late}, faults...), Causes: c.lateBecause(h, now), Where: &where}
	})
}

// lateBecause returns the causes. A clock that reached the end of validity in time was not
// wrong, whatever faults did to it.
func (c *contract) lateBecause(h *timeline.Hold, now history.Time) []Cause {
	if h.Expired() && h.Expiry() <= c.leasedUntil(h) {
		reached := Event{Role: RoleAccess, From: h.Expiry(), Client: h.Client.Number}
		return unbroken(reached.say("the clock that the lock reads had come to the end of validity at %s", at(h.Expiry())))
	}
	if wrong := c.timeline.Faults.OnClock(nemesis.Machine{Client: h.Client.Number}, h.Acquire.At, now); len(wrong) > 0 {
		return broken(ClockCounts, tellFaults(wrong)...)
	}
	if h.Endless() {
		return unbroken(Event{Role: RoleWait, Text: "the lock itself did not tell it of the loss"})
	}
	if h.UnknownEnd != nil {
		return nil
	}
	return unbroken(deadlineLate)
}
