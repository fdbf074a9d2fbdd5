package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// hold is one try to acquire, and the hold that follows if it is granted. The state keeps
// what its events say. Each checker has fields of its own.
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
	references int  // exclusion: its live windows and waiting events

	competing bool // tolerance: the token may hold keys
	waits     bool // progress: it counts as waiting

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

	windows    [ruleCount]window // exclusion
	past       past              // lease exclusion
	keys       keys
	notice     lossNotice // contract
	obstructed nodes      // tolerance: nodes that kept another token's key at some time since the call

	trying  bool // measurements: it counts as tried
	holding bool // measurements: it counts as held
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

// leased reports whether its window of lease exclusion is open.
func (h *hold) leased() bool {
	w := &h.windows[leaseRule]
	return w.begun && !w.over
}

// endless reports whether nothing but a release ends the hold.
func (h *hold) endless() bool { return h.returned && h.until == noEnd && !h.lapsed.over }

// orphaned reports whether nothing can end the hold: it has no TTL and its client is dead.
func (h *hold) orphaned() bool { return h.endless() && h.client.dead }

// tied reports whether the hold, which has no TTL, is one in a store. There it lasts no longer than
// its client, because the entry belongs to the client's connection.
func (l *state) tied(h *hold) bool { return l.header.Keepers < 0 && h.endless() }

func (h *hold) grant() Grant {
	return Grant{
		Client: h.client.number, Resource: h.resource.name, Token: h.token,
		Call: h.acquire.at, Granted: h.granted, Validity: h.first.left,
	}
}

// call is one call of a client.
type call struct {
	open  bool
	at    history.Time
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

// client is one lock user.
type client struct {
	number   int
	holds    []*hold // in the order of their calls
	held     int     // how many of them are granted and not over
	sections []*section
	rows     []row // measurements
	dead     bool
	died     history.Time

	paused   bool
	turned   history.Time  // when it was last paused or resumed
	stoodAll time.Duration // up to turned
	still    clientPause   // the last pause
	resumed  history.Time  // when it last resumed

	cut    nodes                // nodes without a link to it
	mended map[int]history.Time // by node: when its link last came up

	cancelled history.Time // when one of its calls was last cancelled

	writes     int                   // writes that may still be applied
	unanswered map[string][]*section // by token: whose write has an unknown outcome and was not applied yet
	accepted   *section              // the last one whose write was accepted

	adrift adrift       // calls that may still return
	parted releasedHold // the last hold that it released

	unconfirmed []releasedHold // earlier ones whose release was not confirmed
}

// stood returns how long the client has been paused, in all.
func (c *client) stood(now history.Time) time.Duration {
	if c.paused {
		return c.stoodAll + now.Sub(c.turned)
	}
	return c.stoodAll
}

func (c *client) setPaused(paused bool, now history.Time) {
	c.stoodAll = c.stood(now)
	if paused && !c.paused {
		c.still = clientPause{ever: true, from: now, to: forever}
	} else if c.paused && !paused {
		c.still.to, c.resumed = now, now
	}
	c.paused, c.turned = paused, now
}

func (c *client) begin(now history.Time) call {
	return call{open: true, at: now, stood: c.stood(now)}
}

// find returns the newest hold with the event's token at a stage. A defective lock may use
// a token twice.
func (c *client) find(e *history.Event, fits func(*hold) bool) *hold {
	for i := len(c.holds) - 1; i >= 0; i-- {
		h := c.holds[i]
		if fits(h) && h.token == e.Token && h.resource.name == e.Resource {
			return h
		}
	}
	return nil
}

// about returns the hold that an event other than a return is about: the newest with its
// token that is granted and not over, or else the newest.
func (c *client) about(e *history.Event) *hold {
	if c.held > 0 {
		if h := c.find(e, isHeld); h != nil {
			return h
		}
	}
	return c.find(e, atAnyStage)
}

// calls reports whether a try under the token was called in this instant and has not
// returned. It looks at the last calls only, because a client that spins can make very
// many in one instant.
func (c *client) calls(f *fact) bool {
	for i := len(c.holds) - 1; i >= 0; i-- {
		h := c.holds[i]
		if h.acquire.at != f.Time || i < len(c.holds)-maxTold {
			return false
		}
		if h.token == f.Token && h.resource.name == f.Resource && h.acquire.open {
			return true
		}
	}
	return false
}

// drop counts the hold no longer among those that the client holds.
func (c *client) drop(h *hold) {
	if isHeld(h) {
		c.held--
	}
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

	windows     [ruleCount]resourceWindows // exclusion
	fences      fenceMarks                 // fences
	competitors competitors                // tolerance
	kept        []orphanKey                // tolerance
	waiting     waiting                    // progress
	conflicts   []*conflict                // exclusion: the first conflicts of leases
	late        []straggler
	holders     int // measurements: holds whose validity has not ended
	triers      int // measurements: tries that have not returned
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
	p.extend = f.client.begin(f.Time)
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
	l.settling = append(l.settling, f.hold)
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
	h.inner = append(h.inner, f.client.begin(f.Time))
	return true
}

// left makes f the return of the first such release.
func (h *hold) left(f *fact) {
	f.close(&h.inner[0])
	h.inner = h.inner[1:]
}

func isLeaving(h *hold) bool { return len(h.inner) > 0 }
