package live

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Anywhere returns the handlers of faults that need nothing from the servers:
// faults of messages and of clients. With [nemesis.NodeClockFeature] it also
// sets the clocks of [Clocked] servers.
func Anywhere(features ...nemesis.Feature) FaultHandlers {
	clocks := world.ClockFaults(func(w *World) *world.Clocks { return w.clocks }, features...)
	return slices.Concat(messageFaults, clientFaults, clocks)
}

var clientFaults = FaultHandlers{
	handler[*nemesis.Pause]{
		Begin: func(w *World, f injection[*nemesis.Pause]) error { return w.pauseClient(f.Action.Client) },
		End:   func(w *World, f injection[*nemesis.Pause]) error { return w.resumeClient(f.Action.Client) },
	},
	handler[*nemesis.Kill]{
		Begin: func(w *World, f injection[*nemesis.Kill]) error {
			client := f.Action.Client
			if w.dead[client-1] {
				return nil
			}
			w.dead[client-1] = true
			w.host(client).kill()
			w.injector.Record(history.Event{Kind: history.Kill, Client: client})
			w.finish(client)
			return nil
		},
	},
	handler[*nemesis.Cancel]{
		Prepare: func(w *World, f injection[*nemesis.Cancel]) { w.calls.Expect(f.Action.Client) },
		Begin: func(w *World, f injection[*nemesis.Cancel]) error {
			if !w.dead[f.Action.Client-1] {
				w.host(f.Action.Client).cancel(f.Number)
			}
			return nil
		},
	},
	// The clones draw from a new stream instead of one that a client had. No client can
	// tell, and clients in other processes need not be asked for theirs.
	handler[*nemesis.Clone]{
		Begin: func(w *World, f injection[*nemesis.Clone]) error {
			for _, client := range nemesis.Each(f.Action.Clients, w.setting.Clients) {
				w.host(client).draws(f.Stream())
			}
			return nil
		},
	},
}

// pauseClient pauses a client, unless it is dead.
func (w *World) pauseClient(client int) error {
	if w.dead[client-1] {
		return nil
	}
	w.recordPause(client)
	return w.host(client).pause()
}

// resumeClient resumes a client, unless it is dead.
func (w *World) resumeClient(client int) error {
	if w.dead[client-1] {
		return nil
	}
	w.recordResume(client)
	return w.host(client).resume()
}
