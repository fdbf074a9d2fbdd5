package live

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var pausing = world.Carry(
	func(w *World, c world.Case[*nemesis.Pause]) error { return w.halt(c.Action.Client) },
	func(w *World, c world.Case[*nemesis.Pause]) error { return w.proceed(c.Action.Client) },
)

// halt makes a client stand still. One that is dead does so anyway.
func (w *World) halt(client int) error {
	if w.dead[client-1] {
		return nil
	}
	w.stands(client)
	return w.body(client).pause()
}

// proceed lets it go on, unless it is dead.
func (w *World) proceed(client int) error {
	if w.dead[client-1] {
		return nil
	}
	w.goesOn(client)
	return w.body(client).resume()
}

// stands tells that a client stands still, and goesOn that it does so no more, by one reason.
// With several it goes on when the last of them has gone. Both are called with the
// conductor's lock held.
func (w *World) stands(client int) {
	if w.standing[client-1]++; w.standing[client-1] == 1 {
		w.carrier.Record(history.Event{Kind: history.Pause, Client: client})
	}
}

func (w *World) goesOn(client int) {
	if w.standing[client-1]--; w.standing[client-1] == 0 {
		w.carrier.Record(history.Event{Kind: history.Resume, Client: client})
	}
}
