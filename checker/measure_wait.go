package checker

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// row is the tries of one client for one resource that follow one another. There
// is none before the first of them is refused: what one try needs is in its hold.
type row struct {
	resource *resource
	since    history.Time // the first call
	last     history.Time // the last return
	grants   int32        // that the resource had seen at the first call
	tries    int          // that were refused
}

func (c *client) row(r *resource) *row {
	for i := range c.rows {
		if c.rows[i].resource == r {
			return &c.rows[i]
		}
	}
	return nil
}

// goOn goes on with a row, or ends it if it was a while ago.
func (m *measures) goOn(h *hold, now history.Time) {
	h.part.grants = h.resource.measured.grants
	if w := h.client.row(h.resource); w != nil && now.Sub(w.last) > m.ttl && !h.alongside() {
		h.client.forgetRow(w)
	}
}

// alongside reports whether the client tries for the resource in another way too.
func (h *hold) alongside() bool {
	return slices.ContainsFunc(h.client.holds, func(o *hold) bool { return o != h && o.resource == h.resource && o.part.trying })
}

// endRow ends the client's row with a grant.
func (m *measures) endRow(h *hold, now history.Time) {
	m.waited(h, now)
	if w := h.client.row(h.resource); w != nil {
		h.client.forgetRow(w)
	}
}

// forgetRow takes a row out; the order of rows says nothing.
func (c *client) forgetRow(w *row) {
	last := len(c.rows) - 1
	*w = c.rows[last]
	c.rows[last] = row{}
	c.rows = c.rows[:last]
}

// giveUp ends a try without a grant.
func (m *measures) giveUp(h *hold, now history.Time) {
	m.waited(h, now)
	w := h.client.row(h.resource)
	if w == nil {
		h.client.rows = append(h.client.rows, row{resource: h.resource, since: h.acquire.at, grants: h.part.grants})
		w = &h.client.rows[len(h.client.rows)-1]
	}
	w.last = now
	w.tries++
}

// endRows ends what a client waits for when it dies, or the history ends.
func (m *measures) endRows(c *client, now history.Time) {
	for _, h := range c.holds {
		if h.part.trying {
			m.waited(h, now)
		}
	}
	c.rows = nil
}

// waited measures the row of a try up to now.
func (m *measures) waited(h *hold, now history.Time) {
	since, grants := h.acquire.at, h.part.grants
	if w := h.client.row(h.resource); w != nil {
		since, grants = w.since, w.grants
	}
	m.LongestWait = max(m.LongestWait, now.Sub(since))
	m.MostPassedOver = max(m.MostPassedOver, int(h.resource.measured.grants-grants))
}

// round is the tries that compete for a resource which nobody holds.
type round struct {
	number  int32 // of the present round, from 1
	open    int   // tries under way; 0: there is no round
	members int
}

// joinRound makes a try take part in the present round, or begin one.
func (h *hold) joinRound() {
	r := &h.resource.measured
	if r.outage.held > 0 {
		return
	}
	if r.round.open == 0 {
		r.round.number++
		r.round.members = 0
	}
	r.round.open++
	r.round.members++
	h.part.round = r.round.number
}

// leaveRound ends a try that was not granted, and with the last the round.
func (m *measures) leaveRound(h *hold) {
	r := &h.resource.measured
	if r.round.open == 0 || h.part.round != r.round.number {
		return
	}
	h.part.round = 0
	if r.round.open--; r.round.open > 0 {
		return
	}
	if r.round.members > 1 {
		m.SplitRounds++
	}
}

// succeed ends the present round with a grant.
func (m *measures) succeed(h *hold) {
	v := &h.resource.measured
	v.round.open = 0
	if v.grants > 0 {
		return
	}
	tries := 1
	if w := h.client.row(h.resource); w != nil {
		tries += w.tries
	}
	m.RoundsToFirstGrant = max(m.RoundsToFirstGrant, tries)
}
