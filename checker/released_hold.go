package checker

import "github.com/lockstorm/lockstorm/history"

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
