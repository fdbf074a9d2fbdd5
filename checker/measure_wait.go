package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// row is the tries of one client for one resource that follow one another.
type row struct {
	resource *resource
	since    history.Time // the first call
	last     history.Time // the last return
	open     int          // tries under way
	grants   int          // that the resource had seen at the first call
}

func (c *client) row(r *resource) *row {
	for i := range c.rows {
		if c.rows[i].resource == r {
			return &c.rows[i]
		}
	}
	return nil
}

// tryFor begins a row with a call, or goes on with one.
func (c *client) tryFor(r *resource, now history.Time, m *measures) {
	w := c.row(r)
	if w == nil {
		c.rows = append(c.rows, row{resource: r})
		w = &c.rows[len(c.rows)-1]
		w.since, w.last, w.grants = now, now, r.measured.grants
	}
	if w.open == 0 && now.Sub(w.last) > m.ttl {
		w.since, w.grants = now, r.measured.grants
	}
	w.open++
}

// endRow ends the client's row with a grant.
func (m *measures) endRow(h *hold, now history.Time) {
	if w := h.client.row(h.resource); w != nil {
		m.waited(w, now)
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
	if w := h.client.row(h.resource); w != nil {
		m.waited(w, now)
		w.open--
		w.last = now
	}
}

// endRows ends what a client waits for when it dies, or the history ends.
func (m *measures) endRows(c *client, now history.Time) {
	for i := range c.rows {
		if c.rows[i].open > 0 {
			m.waited(&c.rows[i], now)
		}
	}
	c.rows = nil
}

func (m *measures) waited(w *row, now history.Time) {
	m.LongestWait = max(m.LongestWait, time.Duration(now-w.since))
	m.MostPassedOver = max(m.MostPassedOver, w.resource.measured.grants-w.grants)
}

// round is the tries that compete for a resource which nobody holds.
type round struct {
	number  int // of the present round, from 1
	open    int // tries under way; 0: there is no round
	members int
	before  int // rounds that have ended, up to the first grant
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
	r.round.before++
	if r.round.members > 1 {
		m.SplitRounds++
	}
}

// succeed ends the present round with a grant.
func (m *measures) succeed(r *resource) {
	v := &r.measured
	v.round.open = 0
	if v.grants == 0 {
		m.RoundsToFirstGrant = max(m.RoundsToFirstGrant, v.round.before+1)
	}
}
