package checker

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// lateness is what shows that a section's write came too late.
type lateness struct {
	lapsed bool // the validity was over when the write was called, or before it returned
	lapse  history.Time
	held   bool // there was a hold when the write was called
	gone   bool // it was over before the write returned
	stood  stillness
}

// look takes note of how late a write is that is called, or returns.
func (s *section) look(h *hold, c *client, returns bool) {
	v := &s.late
	switch {
	case v.lapsed:
	case h == nil || h.letGo:
		v.gone = v.held && returns
	default:
		v.held = true
		if w := &h.windows[leaseRule]; w.begun && w.over && w.by == history.Lapse {
			v.lapsed, v.lapse, v.stood = true, w.end, c.still.since(s.call)
		}
	}
}

// clause says which assumption the culprits had to make, and could not: that they
// were alone, or that who comes late is refused.
func (j *effect) clause(r *resource, culprits []*section) string {
	for _, c := range r.clashes {
		if has(culprits, c.client, c.token) && has(culprits, c.other, c.theirs) {
			return c.clause()
		}
	}
	for _, s := range culprits {
		if s.late.lapsed {
			return broken(refusesLate, "the validity of client %d was over at %s, and its write, called at %s, was accepted%s",
				s.client, at(s.late.lapse), at(s.writeAt), s.late.stood.tell())
		}
	}
	for _, s := range culprits {
		if s.late.gone {
			return broken(letsGoLast, "client %d's, called at %s, had not returned when it released", s.client, at(s.writeAt))
		}
	}
	return unbroken(j.notes, "nobody came late, and no two of them are seen to have held it at once")
}

func has(list []*section, client int, token string) bool {
	return slices.ContainsFunc(list, func(s *section) bool { return s.client == client && s.token == token })
}
