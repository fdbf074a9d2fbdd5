package live

import (
	"fmt"

	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// travelling is the number under which the setting's latency is imposed on a link, which
// no fault of a plan has.
const travelling = 0

// setLatencies has messages take as long as the setting says. Each link draws from a
// stream of its own; of the setting's links the last that names a link counts. An access to
// the guarded resource takes its time on the way there only.
func (w *World) setLatencies() {
	w.everyLink(nemesis.Links{}, w.setting.Latency, nemesis.Both)
	for _, of := range w.setting.Links {
		w.everyLink(of.Links, of.Latency, of.Way)
	}
	guard := w.setting.Latency
	if w.setting.GuardLatency != nil {
		guard = *w.setting.GuardLatency
	}
	for client := 1; client <= w.setting.Clients; client++ {
		rule := (&nemesis.Latency{Add: guard}).Rule(draws(w.seed, fmt.Sprintf("latency of client %d and the guard", client)))
		w.resource.change(client, func(l world.Rules) world.Rules { return l.With(rule, travelling, false) })
	}
}

func (w *World) everyLink(which nemesis.Links, latency nemesis.Distribution, way nemesis.Direction) {
	for _, client := range nemesis.Each(which.Clients, w.setting.Clients) {
		for _, node := range nemesis.Each(which.Nodes, w.setting.Nodes) {
			draw := draws(w.seed, fmt.Sprintf("latency of client %d and node %d", client, node))
			rule := (&nemesis.Latency{Add: latency}).Rule(draw)
			w.network.Link(client, node).Each(way, func(l *wire.Direction) {
				l.Lift(travelling)
				l.Impose(travelling, rule)
			})
		}
	}
}
