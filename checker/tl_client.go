package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// client is one lock user.
type client struct {
	number   int
	holds    []*hold // in the order of their calls
	held     int     // how many of them are granted and not over
	sections []*section
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

func (c *client) begin(f *fact) call {
	return call{open: true, at: f.Time, event: f.ordinal, stood: c.stood(f.Time)}
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

func (l *state) resume(f *fact, force bool) bool {
	if !f.client.paused {
		return force && l.contradict("client %d resumes at %s, but it was not paused", f.Client, textfmt.Instant(f.Time))
	}
	f.client.setPaused(false, f.Time)
	return true
}

func (l *state) kill(f *fact, _ bool) bool {
	f.client.dead, f.client.died = true, f.Time
	l.retiring = append(l.retiring, f.client.holds...)
	return true
}

// linkDown and linkUp note whether they change anything. A link can go down twice.
func (l *state) linkDown(f *fact, _ bool) bool {
	f.changes = !f.client.cut.has(f.Node)
	f.client.cut = f.client.cut.with(f.Node)
	return true
}

func (l *state) linkUp(f *fact, force bool) bool {
	f.changes = f.client.cut.has(f.Node)
	if !f.changes {
		if !force {
			return false
		}
		l.contradict("the link of client %d to node %d is up at %s, but it was not down", f.Client, f.Node, textfmt.Instant(f.Time))
	}
	f.client.cut = f.client.cut.without(f.Node)
	if f.client.mended == nil {
		f.client.mended = map[int]history.Time{}
	}
	f.client.mended[f.Node] = f.Time
	return true
}
