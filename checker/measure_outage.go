package checker

import "github.com/lockstorm/lockstorm/history"

// outage is what is known of the present state of one resource.
type outage struct {
	held   int          // holds whose validity has not ended
	from   history.Time // since when there are some
	trying int          // tries that have not returned
	since  history.Time
	until  history.Time // the last return of a try in it
	going  bool
}

func (o *outage) start(now history.Time) {
	if !o.going && o.held == 0 && o.trying > 0 {
		o.going, o.since, o.until = true, now, now
	}
}

func (m *measures) stop(o *outage, now history.Time) {
	if o.going {
		m.LongestOutage = max(m.LongestOutage, now.Sub(o.since))
		m.TotalOutage += now.Sub(o.since)
		o.going = false
	}
}

func (m *measures) beginTry(h *hold, now history.Time) {
	o := &h.resource.measured.outage
	if o.trying == 0 && now.Sub(o.until) > m.ttl {
		m.stop(o, o.until) // nobody wanted it since
	}
	h.part.trying = true
	o.trying++
	o.start(now)
}

func (h *hold) stopTrying() {
	if h.part.trying {
		h.part.trying = false
		h.resource.measured.outage.trying--
	}
}

// beginHold counts a grant as held, unless its validity is over already.
func (m *measures) beginHold(h *hold, now history.Time) {
	h.stopTrying()
	m.stop(&h.resource.measured.outage, now)
	if !h.expired() {
		h.hold(now)
	}
}

func (h *hold) hold(now history.Time) {
	o := &h.resource.measured.outage
	h.part.holding = true
	if o.held++; o.held == 1 {
		o.from = now
	}
}

func (m *measures) endHold(h *hold, now history.Time) {
	if !h.part.holding {
		return
	}
	o := &h.resource.measured.outage
	h.part.holding = false
	if o.held--; o.held == 0 {
		m.held += now.Sub(o.from)
	}
	o.start(now)
}

func (m *measures) ended(h *hold, f *fact) {
	if h != nil && (f.Kind != history.Lapse || h.expired()) {
		m.endHold(h, f.Time)
	}
}

// continued counts a hold again whose extension came after its lapse.
func (m *measures) continued(h *hold, now history.Time) {
	if h == nil || h.part.holding {
		return
	}
	if w := &h.windows[leaseRule]; w.begun && !w.over {
		m.stop(&h.resource.measured.outage, now)
		h.hold(now)
	}
}

// endOutage ends what goes on at the end of the history.
func (m *measures) endOutage(r *resource, end history.Time) {
	o := &r.measured.outage
	if o.held > 0 {
		m.held += end.Sub(o.from)
	}
	if o.trying == 0 {
		end = o.until
	}
	m.stop(o, end)
}

// deaths is the holders of a resource that have died since the last grant.
type deaths struct {
	count int
	first history.Time
}

func (m *measures) mourn(r *resource, now history.Time) {
	m.HolderDeaths++
	d := &r.measured.deaths
	if d.count == 0 {
		d.first = now
	}
	d.count++
}

// comfort takes note of the first grant after deaths.
func (m *measures) comfort(r *resource, now history.Time) {
	d := &r.measured.deaths
	if d.count > 0 {
		m.GrantsAfterDeath += d.count
		m.NextGrantAfterDeath = max(m.NextGrantAfterDeath, now.Sub(d.first))
		d.count = 0
	}
}
