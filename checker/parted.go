package checker

import "github.com/lockstorm/lockstorm/history"

// parted is the last hold that a client has released. A caller can make the mistake to
// extend it all the same, and a lock has to refuse that. What was released before it is
// forgotten: of a client that names such a hold nobody can say what it means.
type parted struct {
	resource *resource // nil: none was
	token    string
	released history.Time // when the release returned
	extend   call
}

// part takes note of a release that has returned.
func (c *client) part(h *hold, now history.Time) {
	c.parted = parted{resource: h.resource, token: h.token, released: now}
}

// partedFrom returns what the client has released, if the event is about that.
func (c *client) partedFrom(e *history.Event) *parted {
	if p := &c.parted; p.resource != nil && p.token == e.Token && p.resource.name == e.Resource {
		return p
	}
	return nil
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
