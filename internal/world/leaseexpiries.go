package world

import (
	"math"
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// LeaseExpiries records lapses: the times at which client clocks reach the end of
// validity of a hold. It needs no timer, because Flush records every lapse that is
// due, with the time at which it was due, before the next event is recorded.
//
// A lapse that is due is recorded before it can be replaced or canceled. If a lock
// names an end of validity that its clock has already reached, the lapse is recorded
// at once, with the time since when it was due.
type LeaseExpiries struct {
	ground  func(client int, clock env.Clock, until env.Instant) history.Time
	record  func(e *history.Event)
	watched []leaseExpiry // in the order of the first Watch
	next    history.Time  // none is due before
}

type leaseExpiry struct {
	due      history.Time
	since    history.Time // it was due then, before Watch was called; 0: it was not
	client   int
	clock    env.Clock
	resource string
	token    string
	until    env.Instant
}

// NewLeaseExpiries returns an empty list. ground returns when a client's clock reaches
// until, as that clock runs now, or since when it has shown at least that. record writes an event with
// the time that it bears.
func NewLeaseExpiries(ground func(client int, clock env.Clock, until env.Instant) history.Time, record func(e *history.Event)) *LeaseExpiries {
	return &LeaseExpiries{ground: ground, record: record, next: math.MaxInt64}
}

// Watch records a lapse when the client's clock first reaches until. It replaces an
// earlier Watch for the same client and token.
func (l *LeaseExpiries) Watch(now history.Time, client int, clock env.Clock, resource, token string, until env.Instant) {
	l.Flush(now)
	asked := leaseExpiry{due: l.ground(client, clock, until), client: client, clock: clock, resource: resource, token: token, until: until}
	if asked.due < now {
		asked.due, asked.since = now, max(asked.due, 1) // 0 would mean that it was not due
	}
	if i := l.find(client, token); i >= 0 {
		l.watched[i] = asked
	} else {
		l.watched = append(l.watched, asked)
	}
	l.next = min(l.next, asked.due)
	l.Flush(now)
}

// Due returns when the lapse of the client and token is due, as its clock runs now; 0: none is, or never.
func (l *LeaseExpiries) Due(client int, token string) history.Time {
	if i := l.find(client, token); i >= 0 && l.watched[i].due != math.MaxInt64 {
		return l.watched[i].due
	}
	return 0
}

// Unwatch cancels the Watch for the client and token, if there is one.
func (l *LeaseExpiries) Unwatch(now history.Time, client int, token string) {
	l.Flush(now)
	if i := l.find(client, token); i >= 0 {
		l.watched = slices.Delete(l.watched, i, i+1)
	}
}

// ClockChanged computes again when the client's lapses are due. Those that were due
// by now are recorded first.
func (l *LeaseExpiries) ClockChanged(now history.Time, client int) {
	l.Flush(now)
	for i := range l.watched {
		if w := &l.watched[i]; w.client == client {
			w.due = l.ground(client, w.clock, w.until)
			l.next = min(l.next, w.due)
		}
	}
}

// Flush records the lapses that are due by now, the earliest first.
func (l *LeaseExpiries) Flush(now history.Time) {
	if now >= l.next {
		l.flush(now)
	}
}

// flush is a function of its own so that Flush, which rarely has work, is inlined.
func (l *LeaseExpiries) flush(now history.Time) {
	for {
		i := l.earliest()
		if i < 0 {
			l.next = math.MaxInt64
			return
		}
		w := l.watched[i]
		if w.due > now {
			l.next = w.due
			return
		}
		l.watched = slices.Delete(l.watched, i, i+1)
		l.record(&history.Event{
			Time: w.due, Kind: history.Lapse,
			Client: w.client, Resource: w.resource, Token: w.token, Until: int64(w.until), Since: w.since,
		})
	}
}

// earliest returns the index of the lapse that is due first, or -1.
func (l *LeaseExpiries) earliest() int {
	first := -1
	for i := range l.watched {
		if first < 0 || l.watched[i].due < l.watched[first].due {
			first = i
		}
	}
	return first
}

// find returns the index of the client's lapse for the token, or -1. It searches
// from the end, because recent lapses are replaced or canceled most often.
func (l *LeaseExpiries) find(client int, token string) int {
	for i := len(l.watched) - 1; i >= 0; i-- {
		if w := &l.watched[i]; w.client == client && w.token == token {
			return i
		}
	}
	return -1
}
