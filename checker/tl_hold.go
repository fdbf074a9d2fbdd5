package checker

import (
	"math"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// hold is one try to acquire, and the hold that follows if it is granted.
type hold struct {
	number   int    // its index, reused when it is retired
	serial   uint64 // from 1, never reused
	client   *client
	resource *resource
	token    string
	ttl      time.Duration

	acquire call // open until the try returns
	extend  call
	release call
	check   call
	queue   *queue // where the try waits to be woken, or nil
	depth   int    // how often it was entered again and not left yet
	inner   []call // releases of entries that have not returned

	sends bool         // the lock has read its clock and sends requests
	sent  history.Time // when it last began to

	returned   bool // the try was granted
	letGo      bool // release was called
	lost       bool // its holder was told of the loss
	lostAt     history.Time
	over       bool // it was refused, or its release has returned
	retired    bool // no further event can concern it
	references int  // its live windows, and events of windows that wait

	ended history.Time

	granted history.Time
	first   extension // the grant
	fence   uint64    // of the grant; 0: none

	asked   time.Duration // the TTL of the last extension; 0: that of the grant
	renewed extension     // the last one; at 0: none

	until   int64    // the present end of validity, on the clock that the header names
	openEnd *openEnd // nil: the history tells the end of validity
	lapsed  lapsed
	writes  int // writes that may still be applied

	windows [windowKinds]window
	past    pastWindow // the last lease window that has ended
	keys    keys
}

// entry is how the hold's entry in a store went away, if not by its holder.
type entry struct {
	gone   bool
	at     history.Time
	reason string
	leader int // the node that led the store then
}

// refused reports whether the try has returned without the lock.
func (h *hold) refused() bool { return h.over && !h.letGo }

// leased reports whether its lease window is open.
func (h *hold) leased() bool {
	w := &h.windows[leaseWindow]
	return w.begun && !w.over
}

// endless reports whether nothing but a release ends the hold.
func (h *hold) endless() bool { return h.returned && h.until == noEnd && !h.lapsed.over }

// orphaned reports whether nothing can end the hold: it has no TTL and its client is dead.
func (h *hold) orphaned() bool { return h.endless() && h.client.dead }

// tied reports whether the hold, which has no TTL, is one in a store. There it lasts no longer than
// its client, because the entry belongs to the client's connection.
func (l *state) tied(h *hold) bool { return l.header.Keepers < 0 && h.endless() }

// call is one call of a client.
type call struct {
	open  bool
	at    history.Time
	event int           // the ordinal of its event
	stood time.Duration // how long the client had been paused by then, in all
}

// queue is the time in which a try waits to be woken.
type queue struct {
	in     bool
	since  call          // when it was last queued
	waited time.Duration // in all up to then, without pauses of the client
}

// time returns how long the try has been queued, in all.
func (q *queue) time(c *client, now history.Time) time.Duration {
	if q == nil {
		return 0
	}
	if q.in {
		return q.waited + q.since.took(c, now)
	}
	return q.waited
}

func (h *hold) queued() bool { return h.queue != nil && h.queue.in }

// leave ends the wait, if the try is queued.
func (q *queue) leave(c *client, now history.Time) {
	q.waited = q.time(c, now)
	q.in = false
}

// took returns how long the call has taken, without pauses of the client.
func (v call) took(c *client, now history.Time) time.Duration {
	return now.Sub(v.at) - (c.stood(now) - v.stood)
}

// Stages of a hold, by which returns find their calls.
func atAnyStage(*hold) bool    { return true }
func isCalled(h *hold) bool    { return h.acquire.open }
func isHeld(h *hold) bool      { return h.returned && !h.over }
func isGranted(h *hold) bool   { return h.returned && !h.over && !h.release.open }
func isExtending(h *hold) bool { return h.extend.open }
func isReleasing(h *hold) bool { return h.release.open }

// resource is a name that is locked.
type resource struct {
	number int
	name   string
	holds  []*hold

	windows [windowKinds]windowQueue
	late    []straggler
}

// releasedHold is a hold that a client has released. A lock has to refuse to extend it. The
// state remembers the last one of each client, and some earlier ones whose release was not
// confirmed: a defective lock may go on with those. An event about any other released hold
// is about an unknown one.
type releasedHold struct {
	resource *resource // nil: there is none
	token    string
	released history.Time // when the release returned
	kept     bool         // its release was not confirmed
	extend   call
}

// maxUnconfirmed bounds the unconfirmed releases that are remembered of a client. The oldest,
// which expired first, are forgotten.
const maxUnconfirmed = 4

// rememberRelease notes a release that has returned.
func (c *client) rememberRelease(h *hold, f *fact) {
	if c.parted.kept {
		if len(c.unconfirmed) == maxUnconfirmed {
			c.unconfirmed = cut(c.unconfirmed, 0)
		}
		c.unconfirmed = append(c.unconfirmed, c.parted)
	}
	c.parted = releasedHold{resource: h.resource, token: h.token, released: f.Time, kept: f.Outcome != history.OK}
}

// releasedHold returns the released hold that the event is about, or nil.
func (c *client) releasedHold(e *history.Event) *releasedHold {
	if c.parted.is(e) {
		return &c.parted
	}
	for i := range c.unconfirmed {
		if p := &c.unconfirmed[i]; p.is(e) {
			return p
		}
	}
	return nil
}

func (p *releasedHold) is(e *history.Event) bool {
	return p.resource != nil && p.token == e.Token && p.resource.name == e.Resource
}

// extendReleased enters the call of an extension of a released hold. It reports whether the
// event is one.
func (f *fact) extendReleased() bool {
	p := f.client.releasedHold(f.Event)
	if p == nil || p.extend.open {
		return false
	}
	p.extend = f.client.begin(f)
	return true
}

// releasedExtended makes f the return of such an extension. It reports whether it is one.
func (f *fact) releasedExtended() bool {
	p := f.client.releasedHold(f.Event)
	if p == nil || !p.extend.open {
		return false
	}
	f.parted = p
	f.close(&p.extend)
	return true
}

// reentered is the kind of a grant to a client that holds the resource under the same token
// already. The fact has that hold, and the try that was granted.
//
// The hold goes on until the later of the two ends of validity. It ends with as many
// releases as there were grants; the earlier ones change nothing. Anything else that ends it
// ends it for all of them.
const reentered history.Kind = maxKinds - 1

// holding returns the client's hold that a grant enters again, or nil. The hold has the same
// token and goes on.
func (c *client) holding(f *fact) *hold {
	if c.held == 0 {
		return nil
	}
	return c.find(f.Event, func(h *hold) bool { return h.returned && h.goesOn(f.Time) })
}

// goesOn reports whether the hold goes on. As for an extension, a loss and an end of validity in this
// very instant do not count.
func (h *hold) goesOn(now history.Time) bool {
	return !h.letGo && !h.over && !(h.lost && h.lostAt < now) && !(h.expired() && h.expiry() < now)
}

// reenter turns the grant of a try into one that enters a hold again.
func (l *state) reenter(f *fact, held *hold) {
	f.hold.end(f.Time)
	l.retiring = append(l.retiring, f.hold)
	l.entered = *f.Event
	l.entered.Kind = reentered
	f.Event, f.hold, f.try = &l.entered, held, f.hold
	held.depth++
	if until := validityEnd(f.Event); until > held.until {
		l.declare(f, held)
		held.renewed = l.vouchedBy(f, held)
	}
}

// leave enters a release that is not the last one of the hold. Nothing happens to the hold,
// so the fact has none.
func (h *hold) leave(f *fact) bool {
	if h.depth == 0 {
		return false
	}
	h.depth--
	h.inner = append(h.inner, f.client.begin(f))
	return true
}

// left makes f the return of the first such release.
func (h *hold) left(f *fact) {
	f.close(&h.inner[0])
	h.inner = h.inner[1:]
}

func isLeaving(h *hold) bool { return len(h.inner) > 0 }

// newHold opens a hold with the call of acquire.
func (l *state) newHold(f *fact) *hold {
	c, r, e := l.client(f.Client), l.resource(f.Resource), f.Event
	h := l.blank()
	h.client, h.resource, h.token, h.ttl = c, r, e.Token, e.TTL
	h.acquire, h.until = c.begin(f), anyLapse
	c.holds = append(c.holds, h)
	r.holds = append(r.holds, h)
	return h
}

// anyLapse is the end of validity of a hold whose end is unknown. The first lapse of its
// token counts as its end.
const anyLapse = math.MinInt64

// noEnd is the end of validity of a hold that only a release ends. It has no lapse.
const noEnd = math.MaxInt64

// validityEnd returns the end of validity that a return states.
func validityEnd(e *history.Event) int64 {
	if e.Until == 0 {
		return noEnd
	}
	return e.Until
}

// blank returns an empty hold with an unused number.
func (l *state) blank() *hold {
	l.serial++
	last := len(l.spare) - 1
	if last < 0 {
		l.places++
		l.crowded()
		return &hold{number: l.places - 1, serial: l.serial}
	}
	h := l.spare[last]
	l.spare = l.spare[:last]
	*h = hold{number: h.number, serial: l.serial}
	return h
}

// finished reports whether no further event can change a verdict about the hold. Of a dead
// client only lapses and late writes can come.
func (h *hold) finished() bool {
	lease, section := &h.windows[leaseWindow], &h.windows[sectionWindow]
	if len(lease.implied)+len(section.implied) > 0 && (lease.awaits(h.client) || section.awaits(h.client)) {
		return false // a call under way may still show that it was granted
	}
	return h.over || h.client.dead && (lease.over || !lease.begun && h.writes == 0)
}

// retireAll retires the holds that no further event can concern. The last goes first, because
// it is at the end of its list.
func (l *state) retireAll() {
	for i := len(l.retiring) - 1; i >= 0; i-- {
		if h := l.retiring[i]; !h.retired && h.finished() {
			l.retire(h)
		}
	}
	l.retiring, l.changes = l.retiring[:0], l.changes[:0]
}

func (l *state) retire(h *hold) {
	h.retired = true
	h.client.drop(h)
	h.client.strand(h)
	if len(h.client.sections)+len(h.client.unanswered) > 0 {
		h.client.leaveAll(h)
	}
	h.client.holds = remove(h.client.holds, h)
	h.resource.holds = remove(h.resource.holds, h)
	if l.stragglers && h.writes > 0 && h.returned {
		h.resource.late = append(h.resource.late,
			straggler{client: h.client.number, token: h.token, granted: h.granted, writes: h.writes})
	}
	l.reuse(h)
}

// reuse frees the number of a retired hold when no resource refers to it.
func (l *state) reuse(h *hold) {
	if h.retired && h.references == 0 {
		l.spare = append(l.spare, h)
	}
}

// straggler is a hold that is over while a write under it may still be applied.
type straggler struct {
	client  int
	token   string
	granted history.Time
	writes  int
}

// straggled returns the time of the grant of a write that is applied after its hold is
// over.
func (r *resource) straggled(client int, token string) (history.Time, bool) {
	for i, s := range r.late {
		if s.token != token || client != 0 && s.client != client {
			continue
		}
		if r.late[i].writes--; r.late[i].writes == 0 {
			r.late = remove(r.late, r.late[i])
		}
		return s.granted, true
	}
	return 0, false
}

func isTryStep(step string) bool {
	return step == history.BeforeSend || step == history.Queued || step == history.Woken
}

// step follows a try to the instant at which it read its clock, and in and out of a queue.
func (l *state) step(f *fact, force bool) bool {
	f.hold = f.client.find(f.Event, isCalled)
	h := f.hold
	if h == nil {
		return force
	}
	if f.Name == history.BeforeSend {
		h.sends, h.sent = true, f.Time
		return true
	}
	if h.queued() == (f.Name == history.Queued) {
		return force && l.contradict("client %d, which tries for %s, is %s once more", f.Client, f.lock(), f.Name)
	}
	if f.Name == history.Woken {
		h.queue.leave(f.client, f.Time)
		return true
	}
	if h.queue == nil {
		h.queue = &queue{}
	}
	h.queue.in, h.queue.since = true, f.client.begin(f)
	return true
}

func (l *state) acquire(f *fact, force bool) bool {
	if f.client.calls(f) {
		if !force {
			return false
		}
		l.twice(f, "acquire")
	}
	f.hold = l.newHold(f)
	l.faultLog.ended = l.faultLog.ended[:0]
	return true
}

func (l *state) granted(f *fact, force bool) bool {
	if f.hold = f.client.find(f.Event, isCalled); f.hold == nil {
		if !force {
			return false
		}
		l.unasked(f, "granted")
		f.hold = l.newHold(f)
	}
	l.faultLog.ended = l.faultLog.ended[:0]
	h := f.hold
	f.closeTry(h)
	if held := f.client.holding(f); held != nil {
		l.reenter(f, held)
		return true
	}
	f.client.held++
	h.returned, h.granted = true, f.Time
	h.keys.granted = h.keys.set
	l.declare(f, h)
	h.first = l.vouchedBy(f, h)
	h.fence = f.Fence
	if f.TTL != 0 {
		h.ttl = f.TTL
	}
	return true
}

func (l *state) refused(f *fact, force bool) bool {
	if f.hold = f.client.find(f.Event, isCalled); f.hold == nil {
		return force && l.unasked(f, "refused")
	}
	f.closeTry(f.hold)
	if f.client.holding(f) != nil {
		f.hold.keys = keys{} // the keys belong to the hold that is entered
	}
	f.hold.end(f.Time)
	return true
}

// end ends a hold, or a try that was refused.
func (h *hold) end(now history.Time) {
	h.client.drop(h)
	h.over, h.ended = true, now
}

func (l *state) extend(f *fact, force bool) bool {
	if f.hold = f.client.find(f.Event, isGranted); f.hold == nil {
		if f.hold = f.client.about(f.Event); f.hold == nil || !force {
			return force && (f.extendReleased() || l.contradict("client %d extends %s, which it does not hold", f.Client, f.lock()))
		}
	}
	h := f.hold
	if h.extend.open && h.extend.at == f.Time {
		if !force {
			return false
		}
		l.twice(f, "extend")
	}
	h.extend, h.asked = f.client.begin(f), f.TTL
	h.keys.extended, h.keys.kept = 0, h.keys.set
	// Even if it fails, nodes may have been asked for the earlier end.
	if f.Until != 0 && h.returned && f.Until < h.until {
		h.declare(f.Until, f.Time)
	}
	if f.Until != 0 && h.openEnd == nil {
		l.expect(h, f.Until)
	}
	return true
}

func (l *state) extended(f *fact, force bool) bool {
	if f.hold = f.client.find(f.Event, isExtending); f.hold == nil {
		if f.releasedExtended() {
			return true
		}
		if !force {
			return false
		}
		l.uncalled(f, "an extension", &f.client.adrift.extensions)
		if f.hold = f.client.about(f.Event); f.hold == nil {
			return true
		}
	}
	f.close(&f.hold.extend)
	f.hold.keys.confirmed = f.hold.keys.extended
	l.declare(f, f.hold)
	f.hold.renewed = l.vouchedBy(f, f.hold)
	return true
}

func (l *state) extendFailed(f *fact, force bool) bool {
	if f.hold = f.client.find(f.Event, isExtending); f.hold == nil {
		return f.releasedExtended() || force && l.uncalled(f, "an extension", &f.client.adrift.extensions)
	}
	f.close(&f.hold.extend)
	return true
}

// about enters an event about a hold, which may be over by then. If it is, the event waits for a grant of
// the same instant under the same token, which begins another hold.
func (l *state) about(f *fact, force bool) bool {
	h := f.client.about(f.Event)
	if !force && (h == nil || h.returned && !h.goesOn(f.Time)) {
		return false
	}
	f.hold = h
	return true
}

func (l *state) lost(f *fact, force bool) bool {
	if !l.about(f, force) || f.hold == nil {
		return force
	}
	if h := f.hold; !h.lost {
		h.lost, h.lostAt = true, f.Time
	}
	return true
}

func (l *state) lapse(f *fact, force bool) bool {
	if !l.about(f, force) || f.hold == nil {
		return force
	}
	f.hold.lapse(f.Event)
	return true
}

// check and checked may be about a hold that is over.
func (l *state) check(f *fact, force bool) bool {
	if f.hold = f.client.find(f.Event, isHeld); f.hold == nil {
		if !force || !l.about(f, force) || f.hold == nil {
			return force
		}
	}
	f.hold.check = f.client.begin(f)
	return true
}

func (l *state) checked(f *fact, force bool) bool {
	f.hold = f.client.find(f.Event, func(h *hold) bool { return h.check.open })
	if f.hold == nil {
		return force
	}
	f.close(&f.hold.check)
	return true
}

func (l *state) release(f *fact, force bool) bool {
	h := f.client.find(f.Event, isGranted)
	if h == nil {
		if h = f.client.about(f.Event); h == nil || !force {
			return force && l.contradict("client %d releases %s, which it was never granted, or has released before", f.Client, f.lock())
		}
		l.again(f, h)
	}
	if h.leave(f) {
		return true
	}
	f.hold = h
	if !h.release.open {
		h.release, h.letGo = f.client.begin(f), true
	}
	h.keys.claimed = h.keys.set
	h.keys.entry.claimed = h.keys.entry.there
	return true
}

// again reports a release that was recorded before.
func (l *state) again(f *fact, h *hold) {
	switch {
	case h.over:
		l.contradict("client %d releases %s, which is over", f.Client, f.lock())
	case h.release.open && h.release.at == f.Time:
		l.twice(f, "release")
	}
}

func (l *state) released(f *fact, force bool) bool {
	if h := f.client.find(f.Event, isLeaving); h != nil {
		h.left(f)
		return true
	}
	if f.hold = f.client.find(f.Event, isReleasing); f.hold == nil {
		return force && l.uncalled(f, "a release", &f.client.adrift.releases)
	}
	f.close(&f.hold.release)
	f.hold.end(f.Time)
	f.client.rememberRelease(f.hold, f)
	return true
}

func (r *resource) find(token string) *hold {
	for _, h := range r.holds {
		if h.token == token {
			return h
		}
	}
	return nil
}
