package checker

import "github.com/lockstorm/lockstorm/history"

// releasedHold is a hold that a client has released. A caller can make the mistake to extend
// it all the same, and a lock has to refuse that. Of each client the last is remembered;
// and of those before it some whose release was not confirmed, because a lock can make
// the mistake to go on with those. Whoever names another one names nothing that is known.
type releasedHold struct {
	resource *resource // nil: none was
	token    string
	released history.Time // when the release returned
	kept     bool         // for all that it said
	extend   call
}

// maxUnconfirmed is how many holds of a client are remembered whose release was not
// confirmed; after that the oldest, which have expired first, are forgotten.
const maxUnconfirmed = 4

// rememberRelease takes note of a release that has returned.
func (c *client) rememberRelease(h *hold, f *fact) {
	if c.parted.kept {
		if len(c.unconfirmed) == maxUnconfirmed {
			c.unconfirmed = cut(c.unconfirmed, 0)
		}
		c.unconfirmed = append(c.unconfirmed, c.parted)
	}
	c.parted = releasedHold{resource: h.resource, token: h.token, released: f.Time, kept: f.Outcome != history.OK}
}

// releasedHold returns what the client has released, if the event is about that.
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

// extendReleased enters the call of an extension of what was released, and reports
// whether it is one.
func (f *fact) extendReleased() bool {
	p := f.client.releasedHold(f.Event)
	if p == nil || p.extend.open {
		return false
	}
	p.extend = f.client.begin(f.Time)
	return true
}

// releasedExtended makes f the return of such an extension, and reports whether it is one.
func (f *fact) releasedExtended() bool {
	p := f.client.releasedHold(f.Event)
	if p == nil || !p.extend.open {
		return false
	}
	f.parted = p
	f.close(&p.extend)
	return true
}
