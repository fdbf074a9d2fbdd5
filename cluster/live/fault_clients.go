package live

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var clientFaults = FaultHandlers{
	handler[*nemesis.Pause]{
		Begin: func(w *World, f injection[*nemesis.Pause]) error { return w.halt(f.Action.Client) },
		End:   func(w *World, f injection[*nemesis.Pause]) error { return w.proceed(f.Action.Client) },
	},
	handler[*nemesis.Kill]{
		Begin: func(w *World, f injection[*nemesis.Kill]) error {
			client := f.Action.Client
			if w.dead[client-1] {
				return nil
			}
			w.dead[client-1] = true
			w.body(client).kill()
			w.injector.Record(history.Event{Kind: history.Kill, Client: client})
			w.finish(client)
			return nil
		},
	},
	handler[*nemesis.Cancel]{
		Prepare: func(w *World, f injection[*nemesis.Cancel]) { w.calls.Expect(f.Action.Client) },
		Begin: func(w *World, f injection[*nemesis.Cancel]) error {
			if !w.dead[f.Action.Client-1] {
				w.body(f.Action.Client).cancel(f.Number)
			}
			return nil
		},
	},
	// cloning gives clients one state of randomness. It need not be that which one of them
	// had: nobody can tell, and clients that are processes of their own need not be asked.
	handler[*nemesis.Clone]{
		Begin: func(w *World, f injection[*nemesis.Clone]) error {
			for _, client := range nemesis.Each(f.Action.Clients, w.setting.Clients) {
				w.body(client).draws(f.Stream())
			}
			return nil
		},
	},
}

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
// scheduler's lock held.
func (w *World) stands(client int) {
	if w.standing[client-1]++; w.standing[client-1] == 1 {
		w.injector.Record(history.Event{Kind: history.Pause, Client: client})
	}
}

func (w *World) goesOn(client int) {
	if w.standing[client-1]--; w.standing[client-1] == 0 {
		w.injector.Record(history.Event{Kind: history.Resume, Client: client})
	}
}
