package world

import (
	"math"
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// Lapses are the ends of validity that somebody waits to see in the history.
// They need no timer: what has come due is written, with its own time, before
// the next event is.
//
// What has come due has happened: it is written before it can be replaced or
// withdrawn. What had come due before it was asked for is written when it is, and says
// since when it was so: a lock may name an end of validity only after its clock has come
// to it.
type LeaseExpiries struct {
	ground  func(client int, clock env.Clock, until env.Instant) history.Time
	record  func(e *history.Event)
	watched []leaseExpiry // in the order in which they were first asked for
	next    history.Time  // none is due before
}

type leaseExpiry struct {
	due      history.Time
	since    history.Time // it was due then, before it was asked for; 0: it was not
	client   int
	clock    env.Clock
	resource string
	token    string
	until    env.Instant
}

// NewLapses returns an empty list. ground tells when a client's clock comes to
// until, as that clock runs now, or when it has done so. record writes an event with the
// time that it bears.
func NewLeaseExpiries(ground func(client int, clock env.Clock, until env.Instant) history.Time, record func(e *history.Event)) *LeaseExpiries {
	return &LeaseExpiries{ground: ground, record: record, next: math.MaxInt64}
}

// Watch asks for a lapse when the client's clock first comes to until, in place
// of what was asked for the same client and token before.
func (l *LeaseExpiries) Watch(now history.Time, client int, clock env.Clock, resource, token string, until env.Instant) {
	l.Flush(now)
	asked := leaseExpiry{due: l.ground(client, clock, until), client: client, clock: clock, resource: resource, token: token, until: until}
	if asked.due < now {
		asked.due, asked.since = now, max(asked.due, 1) // 0 would say that it was not
	}
	if i := l.find(client, token); i >= 0 {
		l.watched[i] = asked
	} else {
		l.watched = append(l.watched, asked)
	}
	l.next = min(l.next, asked.due)
	l.Flush(now)
}

// Unwatch withdraws what was asked for the client and token, if anything.
func (l *LeaseExpiries) Unwatch(now history.Time, client int, token string) {
	l.Flush(now)
	if i := l.find(client, token); i >= 0 {
		l.watched = slices.Delete(l.watched, i, i+1)
	}
}

// ClockChanged works out anew when the client's lapses are due. Those that
// came due while its clocks ran as before have done so.
func (l *LeaseExpiries) ClockChanged(now history.Time, client int) {
	l.Flush(now)
	for i := range l.watched {
		if w := &l.watched[i]; w.client == client {
			w.due = l.ground(client, w.clock, w.until)
			l.next = min(l.next, w.due)
		}
	}
}

// Flush writes the lapses that have come due by now, the earliest first.
func (l *LeaseExpiries) Flush(now history.Time) {
	if now >= l.next {
		l.flush(now)
	}
}

// flush is apart so that Flush, which mostly has nothing to do, is inlined.
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

// find returns the index of the client's lapse for the token, or -1. It looks
// from the end, because most are replaced or withdrawn soon.
func (l *LeaseExpiries) find(client int, token string) int {
	for i := len(l.watched) - 1; i >= 0; i-- {
		if w := &l.watched[i]; w.client == client && w.token == token {
			return i
		}
	}
	return -1
}
