package checker

import "github.com/lockstorm/lockstorm/history"

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
}

// learning are the kinds of events by which a holder learns of the end, or by which it has
// to have learned of it.
var learning = kindSet(history.Extend, history.Expiring, history.Lost, history.Release, history.Lapse,
	history.Checked, history.Pause, history.Kill)

// follow follows when holders learn of the end.
func (c *contract) follow(f *fact) {
	switch f.Kind {
	case history.Pause, history.Kill, history.End:
		c.stopped(f)
		return
	}
	h := f.hold
	if h == nil {
		return
	}
	switch f.Kind {
	case history.Granted:
		c.leased(h, f.Time)
	case reentered:
		h.notice.renew(f.Time, f.Time.Add(h.ttl))
	case history.Extended:
		h.notice.renew(f.Time, f.Time.Add(f.extendedBy()-f.took))
	case history.Extend, history.Release:
		c.untold(h, f.Time)
	case history.Expiring, history.Lost:
		c.untold(h, f.Time)
		h.notice.tell(f)
	case history.Lapse:
		c.lapsed(f)
	case history.Checked:
		c.checked(f)
	}
}

// stopped judges the holds of clients that stop running.
func (c *contract) stopped(f *fact) {
	if f.Kind != history.End {
		c.untoldAll(f.client, f.Time)
		return
	}
	for _, who := range c.state.clients {
		c.untoldAll(who, f.Time)
	}
}

// leased notes a grant. The TTL counts from when the lock read its clock, if the try states
// that. For a lock in a store it counts from the grant, because the session may have been
// kept alive until then.
func (c *contract) leased(h *hold, now history.Time) {
	from := now
	if h.sends && c.header.Keepers >= 0 {
		from = h.sent
	}
	if h.ttl > 0 && !h.endless() {
		h.notice.given, h.notice.end, h.notice.since = true, from.Add(h.ttl), now
	}
}

// renew notes an extension. A pause during the call does not count, because the lock may
// read its clock after it. A warning before the extension is void, a loss is not. If both
// happened in one instant, the order is unknown and the warning stays.
func (n *lossNotice) renew(now, end history.Time) {
	n.end = max(n.end, end)
	n.told = n.told && (n.lost || n.toldAt == now)
}

func (n *lossNotice) tell(f *fact) {
	n.told, n.toldAt = true, f.Time
	if f.Kind == history.Lost && !n.lost {
		n.lost, n.lostAt = true, f.Time
	}
}

// leasedUntil is when the TTL of the last grant or extension ends. An extension under way
// may have been granted already.
func (h *hold) leasedUntil() history.Time {
	if x := h.extend; x.open {
		return max(h.notice.end, x.at.Add(h.asked+h.client.stoodAll-x.stood))
	}
	return h.notice.end
}

// knowsFrom is from when the bound counts.
func (h *hold) knowsFrom() history.Time {
	return max(h.leasedUntil(), h.notice.since, h.client.resumed)
}

func (c *contract) untoldAll(who *client, now history.Time) {
	for _, h := range who.holds {
		c.untold(h, now)
	}
}

// untold reports a holder that ran on for too long without a notice.
func (c *contract) untold(h *hold, now history.Time) {
	bound := c.header.Bounds.Notice
	if h.notice.told || h.letGoBefore(now) || h.client.stoodBefore(now) {
		return
	}
	if ran := now.Sub(h.knowsFrom()); ran > bound {
		c.tooLate(h, now, func(e Event) Event {
			e.From = now.Add(-ran)
			return e.say("client %d ran on until %s, for %s, more than %s, and its context had not ended", e.Client, at(now), span4(ran), bound)
		})
	}
}

func (h *hold) letGoBefore(now history.Time) bool { return h.letGo && h.release.at < now }

// stoodBefore reports whether the client was paused or dead before an instant. Its holds
// were judged when that began.
func (c *client) stoodBefore(now history.Time) bool {
	return c.paused && c.still.from < now || c.dead && c.died < now
}

// lapsed reports a declared end of validity that comes too late.
func (c *contract) lapsed(f *fact) {
	h, bound := f.hold, c.header.Bounds.Notice
	lost := h.notice.lost && h.notice.lostAt < f.Time
	if !h.expired() || lost || h.letGoBefore(f.Time) || h.client.stoodBefore(f.Time) {
		return
	}
	if late := f.Time.Sub(h.knowsFrom()); late > bound {
		c.tooLate(h, f.Time, func(e Event) Event {
			return e.say("the end of validity that client %d was told came at %s, %s too late, more than %s", e.Client, at(f.Time), span4(late), bound)
		})
	}
}

// checked reports a check that answered that the lock is held after the hold had ended.
func (c *contract) checked(f *fact) {
	h, asked := f.hold, f.call.at
	if f.Outcome == history.OK && asked > h.leasedUntil() && !h.letGoBefore(asked) {
		c.tooLate(h, f.Time, func(e Event) Event {
			e.From = asked
			return e.say("client %d asked at %s whether it held the lock, and was told that it did", e.Client, at(asked))
		})
	}
}

// tooLate reports that a holder learned of the end too late, once for each hold.
func (c *contract) tooLate(h *hold, now history.Time, how func(Event) Event) {
	if !h.notice.given || h.notice.blamed {
		return
	}
	h.notice.blamed = true
	c.breaches.add(func() Finding {
		held, over := h.during(RoleAccess, h.granted, h.leasedUntil()), h.leasedUntil()
		held = held.say("client %d held %s since %s for a time to live that was over at %s", held.Client, held.lock(), at(h.granted), at(over))
		late := how(h.during(RoleWait, now, 0))
		faults := eventsOf(c.faultLog.between(h.acquire.at, now), forever, false)
		where := h.place(over, now)
		return Finding{Duty: NotifiesOfTheEnd, Events: append([]Event{held, late}, faults...), Causes: c.lateBecause(h, now), Where: &where}
	})
}

// lateBecause returns the causes. A clock that reached the end of validity in time was not
// wrong, whatever faults did to it.
func (c *contract) lateBecause(h *hold, now history.Time) []Cause {
	if h.expired() && h.expiry() <= h.leasedUntil() {
		reached := Event{Role: RoleAccess, From: h.expiry(), Client: h.client.number}
		return unbroken(reached.say("the clock that the lock reads had come to the end of validity at %s", at(h.expiry())))
	}
	if wrong := c.faultLog.onClock(nodeOrClient{client: h.client.number}, h.acquire.at, now); len(wrong) > 0 {
		return broken(ClockCounts, wrong...)
	}
	if h.openEnd != nil {
		return nil
	}
	return unbroken(deadlineLate)
}

// deadlineLate is the evidence if no fault explains the delay.
var deadlineLate = Event{Role: RoleAccess, Text: "the lock's own deadline is later than its TTL allows"}
