package live

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// splitting promotes a replica beside its master. It disturbs the node's links, because
// nobody can count on the node that another client speaks to. What else the plan does to
// the node meanwhile is done to the old master.
var splitting = world.Carry(
	func(w *World, c world.Case[*nemesis.SplitBrain]) error {
		node := c.Action.Node
		w.nemesis.await(w.comebacks[node-1].ending)
		w.links.Disturb(nemesis.Links{Nodes: []int{node}}, untouched)
		old := w.server(node).(Replicated)
		old.Part()
		heir, err := old.Promote(w.over)
		if err != nil {
			return err
		}
		w.comebacks[node-1] = comeback{heir: heir}
		return w.leadSome(node, heir.Addr(), func(client int) bool { return !c.Action.Old(client) })
	},
	func(w *World, c world.Case[*nemesis.SplitBrain]) error {
		node := c.Action.Node
		heir := w.comebacks[node-1].heir
		w.comebacks[node-1].ending = w.nemesis.end(c.Number, func() error {
			if err := w.leadSome(node, heir.Addr(), c.Action.Old); err != nil {
				return err
			}
			return heir.Demote(w.over)
		}, func() {
			w.fleet.Servers[node-1], w.comebacks[node-1] = heir, comeback{}
			w.links.Mend(nemesis.Links{Nodes: []int{node}}, untouched)
		})
		return nil
	},
).EndingLate()
