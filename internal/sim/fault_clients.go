package sim

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var clientFaults = handlers{
	handler[*nemesis.Pause]{
		Features: []nemesis.Feature{nemesis.TimersFirstFeature},
		Begin: func(w *World, f injection[*nemesis.Pause]) error {
			w.clients[f.Action.Client-1].pause(f.Action.First)
			return nil
		},
		End: func(w *World, f injection[*nemesis.Pause]) error {
			w.clients[f.Action.Client-1].resume()
			return nil
		},
	},
	handler[*nemesis.Kill]{
		Begin: func(w *World, f injection[*nemesis.Kill]) error {
			w.clients[f.Action.Client-1].kill()
			return nil
		},
	},
	handler[*nemesis.Cancel]{
		Prepare: func(w *World, f injection[*nemesis.Cancel]) { w.underWay.Expect(f.Action.Client) },
		Begin: func(w *World, f injection[*nemesis.Cancel]) error {
			client := w.clients[f.Action.Client-1]
			if cancel := w.underWay.UnderWay(f.Action.Client); cancel != nil && !client.dead {
				w.injector.Record(history.Event{Kind: history.Cancel, Client: f.Action.Client})
				cancel()
				client.wakeCancelled()
			}
			return nil
		},
	},
	handler[*nemesis.Clone]{
		Begin: func(w *World, f injection[*nemesis.Clone]) error {
			clones := nemesis.Each(f.Action.Clients, w.setting.Clients)
			for _, client := range clones[1:] {
				*w.clients[client-1].random = *w.clients[clones[0]-1].random
			}
			return nil
		},
	},
}
