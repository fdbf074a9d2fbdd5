package live

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// Failovers is what can be done to a fleet whose servers are [Replicated] where the plan
// lets them fail over.
func Failovers() Repertoire {
	return Repertoire{world.Carry(
		func(w *World, c world.Case[*nemesis.Failover]) error {
			w.goDown(c.Action.Node, "as its replica, with the keys that had come to it")
			return w.server(c.Action.Node).(Replicated).LoseMaster()
		},
		func(w *World, c world.Case[*nemesis.Failover]) error {
			node, lost := c.Action.Node, w.server(c.Action.Node).(Replicated)
			var heir Replicated
			w.comeBack(node, c.Number, func() (err error) {
				if heir, err = lost.Promote(w.over); err != nil {
					return err
				}
				if err = w.lead(node, heir.Addr()); err != nil {
					return err
				}
				return heir.Rejoin(w.over)
			}, func() { w.fleet.Servers[node-1] = heir })
			return nil
		},
	).EndingLate(), splitting}
}

// lead lets another server answer whoever asks for a node.
func (w *World) lead(node int, addr string) error {
	return w.leadSome(node, addr, func(int) bool { return true })
}

// leadSome does so for some clients.
func (w *World) leadSome(node int, addr string, which func(client int) bool) error {
	for client := 1; client <= w.setting.Clients; client++ {
		if !which(client) {
			continue
		}
		if err := w.network.Link(client, node).Lead(addr); err != nil {
			return err
		}
	}
	return nil
}
