package checker

import "github.com/lockstorm/lockstorm/history"

// lapsed is what the history tells of the ends of a hold's validity. A lapse ends the
// validity that bears the same until, and no other: a clock that was set back comes to an
// earlier until after a later one. It may come before the return that declares its until,
// while acquire or the extension is under way.
type lapsed struct {
	over bool         // the end of validity that holds now has come
	at   history.Time // when it has

	any   bool         // some lapse was told
	first history.Time // when the first was

	recent []lapse // the last that were told of an end that did not hold then
}

// lapse is the instant at which a client's clock came to an end of validity.
type lapse struct {
	until int64
	at    history.Time
	told  history.Time // at or after it
}

// maxLapses bounds the lapses that are kept for a return to come: a call declares one
// until before it returns, or few.
const maxLapses = 8

// expired reports whether the end of validity has come.
func (h *hold) expired() bool {
	return h.lapsed.over || h.until == anyLapse && h.lapsed.any
}

// expiry returns when the validity ended that is over: where its end is not known, it is
// the first lapse.
func (h *hold) expiry() history.Time {
	if h.until == anyLapse {
		return h.lapsed.first
	}
	return h.lapsed.at
}

// declare sets the end of validity, as a call that was made at an instant declares it. Of
// the lapses, those that were told before the call belong to another end.
func (h *hold) declare(until int64, called history.Time) {
	h.until, h.lapsed.over = until, false
	for _, l := range h.lapsed.recent {
		if l.until == until && l.told >= called {
			h.lapsed.over, h.lapsed.at = true, l.at
			return
		}
	}
}

// lapse takes note that the client's clock has come to an end of validity.
func (h *hold) lapse(e *history.Event) {
	l, until, at := &h.lapsed, e.Until, lapsedAt(e)
	if !l.any {
		l.any, l.first = true, at
	}
	if until == h.until && !l.over {
		l.over, l.at = true, at
	}
	if len(l.recent) == maxLapses {
		l.recent = append(l.recent[:0], l.recent[1:]...)
	}
	l.recent = append(l.recent, lapse{until, at, e.Time})
}

// lapsedAt is when the lapse was: earlier than it was told, if the lock named its until
// only when the clock had come to it.
func lapsedAt(e *history.Event) history.Time {
	if 0 < e.Since && e.Since < e.Time {
		return e.Since
	}
	return e.Time
}
