package sim

import (
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// Watch asks for a lapse event when the client's clock first comes to until, in
// place of what was asked for the same token before.
func (w *World) Watch(client int, clock env.Clock, resource, token string, until env.Instant) {
	if !w.sealed {
		w.catchUp()
		w.lapses.Watch(w.time(), client, clock, resource, token, until)
	}
}

// Unwatch withdraws what was asked for the token, unless it has come due.
func (w *World) Unwatch(client int, token string) {
	if !w.sealed {
		w.catchUp()
		w.lapses.Unwatch(w.time(), client, token)
	}
}

// lapseTime is when the client's clock comes to until, or when it has done so.
func (w *World) lapseTime(client int, clock env.Clock, until env.Instant) history.Time {
	return history.Time(w.clients[client-1].clocks[clock].When(int64(until)))
}
