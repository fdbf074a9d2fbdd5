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

// halt makes a client stand still.
func (w *World) halt(client int) error {
	w.carrier.Record(history.Event{Kind: history.Pause, Client: client})
	return w.body(client).pause()
}

// proceed lets it go on.
func (w *World) proceed(client int) error {
	w.carrier.Record(history.Event{Kind: history.Resume, Client: client})
	return w.body(client).resume()
}
