package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// hold is one try to acquire and the hold that follows if it is granted. The
// ledger keeps what its events say; each judge has fields of its own.
type hold struct {
	client   *client
	resource *resource
	token    string
	ttl      time.Duration

	acquire call // open until the try returns
	extend  call
	release call

	returned bool // the try was granted
	letGo    bool // release was called
	over     bool // it was refused, or release has returned
	ended    history.Time
	retired  bool // no event can concern it any more

	granted  history.Time
	validity time.Duration // that it was granted with
	extended history.Time  // when it was last granted more time

	until   int64 // the end of validity that holds now, on the client's clock
	reached reached
	writes  int // writes whose effect may still come

	windows    [ruleCount]window // exclusion
	fence      uint64            // fences
	floor      mark              // fences: what the fence has to be above, as of the call
	keys       keys              // contract
	competing  bool              // tolerance: the token may hold keys
	obstructed nodes             // tolerance: that kept another token's key at some time since the call
	trying     bool              // measurements: it counts as tried
	holding    bool              // measurements: it counts as held
}

// keys is the nodes that did something to the keys of a hold.
type keys struct {
	set      nodes // that keep the token, as of the last instant
	claimed  nodes // that kept it when release was called
	deleted  nodes // that deleted it since then
	extended nodes // that extended its life since extend was called
}

// reached is the furthest point of the client's clock that a lapse has told.
type reached struct {
	seen  bool
	until int64
	at    history.Time
}

// expired reports whether the end of validity has been reached.
func (h *hold) expired() bool { return h.reached.seen && h.reached.until >= h.until }

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

// client is one lock user.
type client struct {
	number   int
	holds    []*hold // in the order of their calls
	sections []*section
	dead     bool

	paused   bool
	turned   history.Time  // when it was last paused or resumed
	stoodAll time.Duration // up to turned

	cut    nodes                // the nodes that it has no link to
	mended map[int]history.Time // by node: when it last had a link again

	cancelled history.Time // when a call of it was last cancelled
}

// stood returns how long the client has stood still, in all.
func (c *client) stood(now history.Time) time.Duration {
	if c.paused {
		return c.stoodAll + now.Sub(c.turned)
	}
	return c.stoodAll
}

func (c *client) turn(paused bool, now history.Time) {
	c.stoodAll = c.stood(now)
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
		if h.token == e.Token && h.resource.name == e.Resource && fits(h) {
			return h
		}
	}
	return nil
}

// The stages of a hold by which calls and returns find each other.
func atAnyStage(*hold) bool    { return true }
func isCalled(h *hold) bool    { return h.acquire.open }
func isGranted(h *hold) bool   { return h.returned && !h.over && !h.release.open }
func isExtending(h *hold) bool { return h.extend.open }
func isReleasing(h *hold) bool { return h.release.open }

// resource is one name that is locked.
type resource struct {
	name  string
	holds []*hold

	lines      [ruleCount]line // exclusion
	register   register        // effect
	fences     fenceMarks      // fences
	rivals     rivals          // tolerance
	kept       []stray         // tolerance
	waiting    waiting         // progress
	outage     outage          // measurements
	applied    history.Time    // measurements: the newest grant that had an effect
	stragglers []straggler     // measurements
}

// straggler is a hold that is over while a write of it may still come.
type straggler struct {
	client  int
	token   string
	granted history.Time
	writes  int
}
