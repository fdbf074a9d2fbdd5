package sim

import (
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var duplicating = world.Carry(
	func(w *World, c world.Case[*nemesis.Duplicate]) error {
		on := &copying{after: c.Action.After.Table(), random: stream(w.seed, c.Stream())}
		w.onCopies(c.Action, on)
		return nil
	},
	func(w *World, c world.Case[*nemesis.Duplicate]) error {
		w.onCopies(c.Action, nil)
		return nil
	},
)

// copying is what a fault does to the requests that have come over a lane.
type copying struct {
	after  *nemesis.Table
	random *rand.PCG // the fault's own
}

// onCopies says what makes copies of the requests of a fault's links.
func (w *World) onCopies(d *nemesis.Duplicate, how *copying) {
	for _, client := range nemesis.Each(d.Clients, w.setting.Clients) {
		for _, node := range nemesis.Each(d.Nodes, w.setting.Nodes) {
			w.network.link(client, node).requests.copies = how
		}
	}
}

// comeToNode is what becomes of request i when it has come to its node: a proxy there may
// send it once more.
func (w *World) comeToNode(i int32) {
	m := w.network.messages.at(i)
	if how := w.network.link(int(m.client), int(m.node)).requests.copies; how != nil && !m.reset {
		second := w.network.messages.put(message{round: m.round, sent: m.sent, client: m.client, node: m.node, whole: m.whole, copy: true})
		w.queue.push(w.now+int64(how.after.Draw(how.random.Uint64())), requestArrives, second)
	}
	w.atNode(i)
}
