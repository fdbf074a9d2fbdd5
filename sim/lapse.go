package sim

import (
	"math"
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// lapses are the ends of validity that somebody waits to see in the history.
// They cost no events in the queue: what has come due is written before the
// next event of the history is, with its own time.
type lapses struct {
	watched []watch
	next    int64 // no lapse is due before this ground time
}

type watch struct {
	due      int64 // ground time
	client   int
	resource string
	token    string
	until    env.Instant
}

// Watch asks for a lapse event when the client's monotonic clock comes to
// until, in place of an earlier wish for the same token.
func (w *World) Watch(client int, resource, token string, until env.Instant) {
	w.Unwatch(client, token)
	due := max(w.clients[client-1].mono.when(int64(until)), w.now)
	w.lapses.watched = append(w.lapses.watched, watch{due, client, resource, token, until})
	w.lapses.next = min(w.lapses.next, due)
}

// Unwatch takes the wish back.
func (w *World) Unwatch(client int, token string) {
	l := w.lapses.watched
	for i := len(l) - 1; i >= 0; i-- {
		if l[i].client == client && l[i].token == token {
			last := len(l) - 1
			l[i] = l[last]
			l[last] = watch{}
			w.lapses.watched = l[:last]
			return
		}
	}
}

// flushLapses writes what has come due.
func (w *World) flushLapses() {
	if w.now < w.lapses.next {
		return
	}
	var due []watch
	kept, next := w.lapses.watched[:0], int64(math.MaxInt64)
	for _, l := range w.lapses.watched {
		if l.due <= w.now {
			due = append(due, l)
		} else {
			kept, next = append(kept, l), min(next, l.due)
		}
	}
	w.lapses = lapses{watched: kept, next: next}
	slices.SortStableFunc(due, func(a, b watch) int { return int(max(-1, min(1, a.due-b.due))) })
	for _, l := range due {
		w.write(&history.Event{
			Time: history.Time(l.due), Kind: history.Lapse,
			Client: l.client, Resource: l.resource, Token: l.token, Until: int64(l.until),
		})
	}
}

// clockChanged works out anew when the client's watches are due.
func (l *lapses) clockChanged(c *client, now int64) {
	for i := range l.watched {
		if l.watched[i].client == c.id {
			l.watched[i].due = max(c.mono.when(int64(l.watched[i].until)), now)
			l.next = min(l.next, l.watched[i].due)
		}
	}
}
