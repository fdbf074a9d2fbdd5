package checker

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// lapsed is what the history says about the ends of a hold's validity. A lapse ends only the
// validity with the same until: a clock that was set back reaches an earlier until after a
// later one. A lapse may come before the return that declares its until, while acquire or
// the extension is under way.
type lapsed struct {
	over bool         // the present end of validity has come
	at   history.Time // when it came

	any   bool         // there was a lapse
	first history.Time // when the first one was

	recent []lapse // the last lapses of other ends
}

// lapse is the instant at which a client's clock came to an end of validity.
type lapse struct {
	until int64
	at    history.Time
	told  history.Time // when it was recorded: at or after it
}

// maxLapses bounds the lapses that are kept for a later return. A call declares few untils
// before it returns.
const maxLapses = 8

// expired reports whether the end of validity has come.
func (h *hold) expired() bool {
	return h.lapsed.over || h.until == anyLapse && h.lapsed.any
}

// expiry returns when the validity ended. If its end is unknown, that is the first lapse.
func (h *hold) expiry() history.Time {
	if h.until == anyLapse {
		return h.lapsed.first
	}
	return h.lapsed.at
}

// declare sets the end of validity that a call declares. Lapses that were recorded before
// the call belong to another end.
func (h *hold) declare(until int64, called history.Time) {
	h.until, h.lapsed.over = until, false
	for _, l := range h.lapsed.recent {
		if l.ends(until) && l.told >= called {
			h.lapsed.over, h.lapsed.at = true, l.at
			return
		}
	}
}

// lapse notes that the client's clock has reached an end of validity.
func (h *hold) lapse(e *history.Event) {
	l, until, at := &h.lapsed, e.Until, lapsedAt(e)
	if !l.any {
		l.any, l.first = true, at
	}
	now := lapse{until, at, e.Time}
	if now.ends(h.until) && !l.over {
		l.over, l.at = true, at
	}
	if len(l.recent) == maxLapses {
		l.recent = append(l.recent[:0], l.recent[1:]...)
	}
	l.recent = append(l.recent, now)
}

// ends reports whether the lapse is that of an end of validity: of any, if it does not say which.
func (l lapse) ends(until int64) bool { return l.until == until || l.until == 0 }

// lapsedAt is when the lapse was. It is earlier than the event if the lock declared its
// until only after the clock had reached it.
func lapsedAt(e *history.Event) history.Time {
	if 0 < e.Since && e.Since < e.Time {
		return e.Since
	}
	return e.Time
}

// lateness says how a section's write was late.
type lateness struct {
	over  bool // the hold had ended when the write was called, or before it took effect
	told  bool // the holder was told of the loss; else its validity had ended
	died  bool // the hold had ended with its holder
	since history.Time
	stood clientPause
	// else the holder had called release before the write took effect
}

// look notes whether a write is late: when it is called, and when it is applied or, if the history
// does not record that, returns. A hold that is forgotten was looked at before: see [client.leaveAll].
func (s *section) look(h *hold, c *client, effective bool) {
	switch {
	case s.late != nil || h == nil:
	case h.letGo:
		if s.held && effective {
			s.late = &lateness{}
		}
	default:
		s.held = true
		if w := &h.windows[leaseRule]; w.begun && w.over && (w.by == history.Lapse || w.by == history.Lost || w.by == history.Kill) {
			told := w.by == history.Lost && !(h.expired() && h.expiry() <= w.end)
			s.late = &lateness{over: true, told: told, died: w.by == history.Kill, since: w.end, stood: c.still.since(s.call)}
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
			how := "the validity of client %d was over at %s"
			switch {
			case s.late.died:
				how = "client %d died at %s"
			case s.late.told:
				how = "client %d was told at %s that it had lost the lock"
			}
			late := Event{Role: RoleAccess, Client: s.client, Token: s.token}.between(s.late.since, s.writeAt)
			late = late.say(how+", and its write, called at %s, was accepted", s.client, at(s.late.since), at(s.writeAt))
			return broken(RefusesLate, append([]Event{late}, s.late.stood.of(s.client)...)...)
		}
	}
	for _, s := range culprits {
		if s.late != nil {
			open := Event{Role: RoleAccess, From: s.writeAt, Client: s.client, Token: s.token}
			if s.stage == unanswered && s.arrived != 0 {
				open.To = s.arrived
				return broken(WritesArrive, open.say("client %d's write, called at %s, arrived at %s, after it had called release", s.client, at(s.writeAt), at(s.arrived)))
			}
			return broken(WritesArrive, open.say("client %d's write, called at %s, had not returned when it released", s.client, at(s.writeAt)))
		}
	}
	return unbroken(Event{Role: RoleAccess, Text: "every write arrived in time, and no two holds are seen to overlap"})
}

func has(list []*section, client int, token string) bool {
	return slices.ContainsFunc(list, func(s *section) bool { return s.client == client && s.token == token })
}
