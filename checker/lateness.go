package checker

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// lateness says how a section's write was late.
type lateness struct {
	over  bool // the hold had ended when the write was called, or before it returned
	told  bool // the holder was told of the loss; else its validity had ended
	since history.Time
	stood clientPause
	// else the hold was over before the write returned
}

// look notes whether a write is late when it is called, or returns.
func (s *section) look(h *hold, c *client, returns bool) {
	switch {
	case s.late != nil:
	case h == nil || h.letGo:
		if s.held && returns {
			s.late = &lateness{}
		}
	default:
		s.held = true
		if w := &h.windows[leaseRule]; w.begun && w.over && (w.by == history.Lapse || w.by == history.Lost) {
			told := w.by == history.Lost && !(h.expired() && h.expiry() <= w.end)
			s.late = &lateness{over: true, told: told, since: w.end, stood: c.still.since(s.call)}
		}
	}
}

// causes says which assumption of the culprits was broken: that no other client held the
// lock, or that the resource refuses late writes.
func (j *effect) causes(r *resource, culprits []*section) []Cause {
	for _, c := range r.conflicts {
		if has(culprits, c.client, c.token) && has(culprits, c.other, c.theirs) {
			return c.causes()
		}
	}
	for _, s := range culprits {
		if s.late != nil && s.late.over {
			late := Statement{Kind: WriteLate, Client: s.client, At: s.writeAt, To: s.late.since, More: s.late.told}
			return broken(RefusesLate, append([]Statement{late}, s.late.stood.tell()...)...)
		}
	}
	for _, s := range culprits {
		if s.late != nil {
			return broken(WritesArrive, Statement{Kind: WriteOpen, Client: s.client, At: s.writeAt})
		}
	}
	return unbroken(j.faultLog, Statement{Kind: NobodyLate})
}

func has(list []*section, client int, token string) bool {
	return slices.ContainsFunc(list, func(s *section) bool { return s.client == client && s.token == token })
}
