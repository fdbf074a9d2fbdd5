package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// hold is one try to acquire and the hold that follows if it is granted. The
// ledger keeps what its events say; each judge has fields of its own.
type hold struct {
	number   int    // its place, which another takes when it is retired
	serial   uint64 // from 1, of its own
	client   *client
	resource *resource
	token    string
	ttl      time.Duration

	acquire call // open until the try returns
	extend  call
	release call
	check   call
	queue   *queue // in which the try waits to be woken, or nil
	depth   int    // how often it was entered again and not left
	inner   []call // releases that leave it, and have not returned

	sends bool         // it has come to where its lock has read the clock
	sent  history.Time // when it last did

	returned bool // the try was granted
	letGo    bool // release was called
	lost     bool // its holder was told that it holds the lock no more
	over     bool // it was refused, or release has returned
	retired  bool // no event can concern it any more
	lined    int  // exclusion: its live windows, and its turns that wait

	competing bool // tolerance: the token may hold keys
	waits     bool // progress: it counts as waiting

	ended history.Time

	granted  history.Time
	validity time.Duration // that it was granted with
	fence    uint64        // of the grant; 0: it bears none

	asked   time.Duration // the TTL of the last extension; 0: as of the grant
	renewed extension     // the last; at 0: none

	until  int64 // the end of validity that holds now, on the client's clock
	lapsed lapsed
	writes int // writes whose effect may still come

	windows    [ruleCount]window // exclusion
	past       past              // lease exclusion
	keys       keys
	notice     lossNotice // contract
	obstructed nodes      // tolerance: that kept another token's key at some time since the call

	trying  bool // measurements: it counts as tried
	holding bool // measurements: it counts as held
}

// entry is what became of the hold's entry in a store without its holder's doing.
type entry struct {
	gone   bool
	at     history.Time
	reason string
	leader int // who led the store then
}

// refused reports whether the try has returned without the lock.
func (h *hold) refused() bool { return h.over && !h.letGo }

// leased reports whether its window of lease exclusion is open.
func (h *hold) leased() bool {
	w := &h.windows[leaseRule]
	return w.begun && !w.over
}

// endless reports whether nothing but a release ends the hold.
func (h *hold) endless() bool { return h.returned && h.until == noEnd }

// orphaned reports whether nothing can end the hold any more.
func (h *hold) orphaned() bool { return h.endless() && h.client.dead }

func (h *hold) grant() Grant {
	return Grant{
		Client: h.client.number, Resource: h.resource.name, Token: h.token,
		Call: h.acquire.at, Granted: h.granted, Validity: h.validity,
	}
}

// call is one call of a client.
type call struct {
	open  bool
	at    history.Time
	stood time.Duration // how long the client had stood still by then, in all
}

// queue is the time in which a try waits for somebody to wake it.
type queue struct {
	in     bool
	since  call          // when it was queued last
	waited time.Duration // in all, up to then; what the client stood still not counted
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

// took returns how long the call has taken, what the client stood still not
// counted.
func (v call) took(c *client, now history.Time) time.Duration {
	return now.Sub(v.at) - (c.stood(now) - v.stood)
}

// client is one lock user.
type client struct {
	number   int
	holds    []*hold // in the order of their calls
	held     int     // how many of them it was granted and are not over
	sections []*section
	rows     []row // measurements
	dead     bool
	died     history.Time

	paused   bool
	turned   history.Time  // when it was last paused or resumed
	stoodAll time.Duration // up to turned
	still    clientPause   // the last time
	resumed  history.Time  // when it last went on

	cut    nodes                // the nodes that it has no link to
	mended map[int]history.Time // by node: when it last had a link again

	cancelled history.Time // when a call of it was last cancelled

	writes int          // that may still be applied
	adrift adrift       // calls that may still return
	parted releasedHold // the last that it has released

	unconfirmed []releasedHold // before it
}

// stood returns how long the client has stood still, in all.
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

// find returns the newest hold of that token that is at a given stage. Tokens
// should differ, but a defect may use one again.
func (c *client) find(e *history.Event, fits func(*hold) bool) *hold {
	for i := len(c.holds) - 1; i >= 0; i-- {
		h := c.holds[i]
		if fits(h) && h.token == e.Token && h.resource.name == e.Resource {
			return h
		}
	}
	return nil
}

// about returns the hold of that token which an event is about that is no return: the
// newest that was granted and is not over, or else the newest.
func (c *client) about(e *history.Event) *hold {
	if c.held > 0 {
		if h := c.find(e, isHeld); h != nil {
			return h
		}
	}
	return c.find(e, atAnyStage)
}

// calls reports whether the client has called acquire under the token in this instant,
// as one of its last calls, and the try has not returned. A client that spins has called
// it so often in one instant that looking at all of them would take for ever.
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

// drop takes a hold from those that the client has, if it is one.
func (c *client) drop(h *hold) {
	if isHeld(h) {
		c.held--
	}
}

// The stages of a hold by which calls and returns find each other.
func atAnyStage(*hold) bool    { return true }
func isCalled(h *hold) bool    { return h.acquire.open }
func isHeld(h *hold) bool      { return h.returned && !h.over }
func isGranted(h *hold) bool   { return h.returned && !h.over && !h.release.open }
func isExtending(h *hold) bool { return h.extend.open }
func isReleasing(h *hold) bool { return h.release.open }

// resource is one name that is locked.
type resource struct {
	number int
	name   string
	holds  []*hold

	lines       [ruleCount]resourceWindows // exclusion
	register    register                   // effect
	fences      fenceMarks                 // fences
	competitors competitors                // tolerance
	kept        []orphanKey                // tolerance
	waiting     waiting                    // progress
	clashes     []*conflict                // exclusion: the first, of windows
	late        []straggler
	holders     int // measurements: holds whose validity has not ended
	triers      int // measurements: tries that have not returned
}
