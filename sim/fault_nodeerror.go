package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// erring disturbs the nodes' links, because nobody can count on a good answer
// meanwhile.
var erring = world.Carry(
	func(w *World, c world.Case[*nemesis.NodeError]) error {
		w.answerWith(c.Action.Nodes, errorCauses[c.Action.Error])
		w.links.Disturb(nemesis.Links{Nodes: c.Action.Nodes}, untouched)
		return nil
	},
	func(w *World, c world.Case[*nemesis.NodeError]) error {
		w.answerWith(c.Action.Nodes, 0)
		w.letGo(nemesis.Links{Nodes: c.Action.Nodes}, untouched)
		return nil
	},
).With(nemesis.LoadingFeature)

var errorCauses = map[nemesis.ErrorName]cause{nemesis.Loading: loading, nemesis.OOM: oom, nemesis.ReadOnly: readOnly}

func (w *World) answerWith(nodes []int, c cause) {
	for _, id := range nemesis.Each(nodes, len(w.nodes)) {
		w.node(id).failing = c
	}
}
