package live

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var pausing = world.Carry(
	func(w *World, c world.Case[*nemesis.Pause]) error {
		w.halt(c.Action.Client)
		return nil
	},
	func(w *World, c world.Case[*nemesis.Pause]) error {
		w.proceed(c.Action.Client)
		return nil
	},
)

// halt makes a client stand still.
func (w *World) halt(client int) {
	w.carrier.Record(history.Event{Kind: history.Pause, Client: client})
	w.client(client).gate.pause()
}

// proceed lets it go on.
func (w *World) proceed(client int) {
	w.carrier.Record(history.Event{Kind: history.Resume, Client: client})
	w.client(client).gate.resume()
}
