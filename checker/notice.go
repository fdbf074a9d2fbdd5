package checker

import "github.com/lockstorm/lockstorm/history"

// lossNotice is what is known of when a holder has to know that its hold is over.
//
// The lock has promised a time to live from when it read its clock, before it asked for
// the lock. When so much time has passed on the ground clock the hold is over, whatever
// other clocks say; the end of validity comes before that, by the allowance, which is what
// the lock's clock may be behind. From then on a holder who runs has as long as the bound
// says to learn of it: its context ends, and the end of validity that it was told comes. If
// it stood still it has as long from when it went on. What it asks, by a check, it learns
// at once.
type lossNotice struct {
	given  bool
	end    history.Time // of the TTL, at the latest
	since  history.Time // of the grant
	told   bool         // its context has ended
	toldAt history.Time // when it was told last
	lost   bool         // it was told of the loss, which is final
	lostAt history.Time
	blamed bool // it was reported that the holder learned of it too late
}

// learning are the kinds of events by which a holder learns of the end, or before which it
// has to have.
var learning = kindSet(history.Extend, history.Expiring, history.Lost, history.Release, history.Lapse,
	history.Checked, history.Pause, history.Kill)

// follow follows what holders learn.
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

// stopped looks at clients that run no further.
func (c *contract) stopped(f *fact) {
	if f.Kind != history.End {
		c.untoldAll(f.client, f.Time)
		return
	}
	for _, who := range c.state.clients {
		c.untoldAll(who, f.Time)
	}
}

// leased takes note of a grant. When the lock had read its clock is known where the try
// tells; a lock in a store counts from when it last kept its session, which may be later.
func (c *contract) leased(h *hold, now history.Time) {
	from := now
	if h.sends && c.header.Keepers >= 0 {
		from = h.sent
	}
	if h.ttl > 0 && !h.endless() {
		h.notice.given, h.notice.end, h.notice.since = true, from.Add(h.ttl), now
	}
}

// renew takes note of an extension. A lock may read its clock only when the client has
// stood still in the call, so that this time does not count. What the holder was told
// before is taken back, but the loss; in the same instant nobody knows which was first.
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

// leasedUntil is when the time is over that the lock was last granted for. An extension
// that is under way may have been granted already.
func (h *hold) leasedUntil() history.Time {
	if x := h.extend; x.open {
		return max(h.notice.end, x.at.Add(h.asked+h.client.stoodAll-x.stood))
	}
	return h.notice.end
}

// knowsFrom is since when a holder who runs has to learn that its hold is over.
func (h *hold) knowsFrom() history.Time {
	return max(h.leasedUntil(), h.notice.since, h.client.resumed)
}

func (c *contract) untoldAll(who *client, now history.Time) {
	for _, h := range who.holds {
		c.untold(h, now)
	}
}

// untold reports a holder that has run on for too long without the news.
func (c *contract) untold(h *hold, now history.Time) {
	bound := c.header.Bounds.Notice
	if h.notice.told || h.letGoBefore(now) || h.client.stoodBefore(now) {
		return
	}
	if ran := now.Sub(h.knowsFrom()); ran > bound {
		c.tooLate(h, now, Statement{Kind: RanOn, At: now, For: ran, Bound: bound})
	}
}

func (h *hold) letGoBefore(now history.Time) bool { return h.letGo && h.release.at < now }

// stoodBefore reports whether the client has stood still since before an instant, or was
// dead. How long it had run by then has been looked at.
func (c *client) stoodBefore(now history.Time) bool {
	return c.paused && c.still.from < now || c.dead && c.died < now
}

// lapsed reports an end of validity that comes too late for a holder who goes by it.
func (c *contract) lapsed(f *fact) {
	h, bound := f.hold, c.header.Bounds.Notice
	lost := h.notice.lost && h.notice.lostAt < f.Time
	if !h.expired() || lost || h.letGoBefore(f.Time) || h.client.stoodBefore(f.Time) {
		return
	}
	if late := f.Time.Sub(h.knowsFrom()); late > bound {
		c.tooLate(h, f.Time, Statement{Kind: ToldLate, At: f.Time, For: late, Bound: bound})
	}
}

// checked reports a holder that has asked when its hold was over, and was told that it was
// not.
func (c *contract) checked(f *fact) {
	h, asked := f.hold, f.call.at
	if f.Outcome == history.OK && asked > h.leasedUntil() && !h.letGoBefore(asked) {
		c.tooLate(h, f.Time, Statement{Kind: ToldHeld, At: asked})
	}
}

// tooLate reports, once of each hold, how its holder learned too late that it was over.
func (c *contract) tooLate(h *hold, now history.Time, how Statement) {
	if !h.notice.given || h.notice.blamed {
		return
	}
	h.notice.blamed = true
	c.breaches.add(func() Finding {
		held := Statement{Kind: HeldBeyond, Client: h.client.number, Resource: h.resource.name, Token: h.token, From: h.granted, To: h.leasedUntil()}
		where := h.place(h.leasedUntil(), now)
		f := Finding{Events: []Statement{held, how}, Causes: c.lateBecause(h, now), Where: &where}
		if !c.faultLog.none() {
			f.Meanwhile = c.meanwhile(h.acquire.at, now)
		}
		return f
	})
}

// lateBecause says what a lock had to count on for its holder to learn in time, and could
// not. A clock that had come to the end of validity in time was not wrong, whatever was
// done to it.
func (c *contract) lateBecause(h *hold, now history.Time) []Cause {
	if h.expired() && h.expiry() <= h.leasedUntil() {
		return unbroken(c.faultLog, Statement{Kind: ClockReached, At: h.expiry()})
	}
	if wrong := c.faultLog.onClock(nodeOrClient{client: h.client.number}, h.acquire.at, now); len(wrong) > 0 {
		return broken(ClockCounts, wrong...)
	}
	return unbroken(c.faultLog, Statement{Kind: DeadlineLate})
}

// laterThanTTL is what no fault explains.
const laterThanTTL = "the lock's own deadline is later than its TTL allows"
