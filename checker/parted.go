package checker

import "github.com/lockstorm/lockstorm/history"

// parted is a hold that a client has released. A caller can make the mistake to extend
// it all the same, and a lock has to refuse that. Of each client the last is remembered;
// and of those before it some whose release was not confirmed, because a lock can make
// the mistake to go on with those. Whoever names another one names nothing that is known.
type parted struct {
	resource *resource // nil: none was
	token    string
	released history.Time // when the release returned
	kept     bool         // for all that it said
	extend   call
}

// maxUnconfirmed is how many holds of a client are remembered whose release was not
// confirmed; after that the oldest, which have expired first, are forgotten.
const maxUnconfirmed = 4

// part takes note of a release that has returned.
func (c *client) part(h *hold, f *fact) {
	if c.parted.kept {
		if len(c.unconfirmed) == maxUnconfirmed {
			c.unconfirmed = cut(c.unconfirmed, 0)
		}
		c.unconfirmed = append(c.unconfirmed, c.parted)
	}
	c.parted = parted{resource: h.resource, token: h.token, released: f.Time, kept: f.Outcome != history.OK}
}

// partedFrom returns what the client has released, if the event is about that.
func (c *client) partedFrom(e *history.Event) *parted {
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

func (p *parted) is(e *history.Event) bool {
	return p.resource != nil && p.token == e.Token && p.resource.name == e.Resource
}

// extendParted enters the call of an extension of what was released, and reports
// whether it is one.
func (f *fact) extendParted() bool {
	p := f.client.partedFrom(f.Event)
	if p == nil || p.extend.open {
		return false
	}
	p.extend = f.client.begin(f.Time)
	return true
}

// partedExtended makes f the return of such an extension, and reports whether it is one.
func (f *fact) partedExtended() bool {
	p := f.client.partedFrom(f.Event)
	if p == nil || !p.extend.open {
		return false
	}
	f.parted = p
	f.close(&p.extend)
	return true
}
