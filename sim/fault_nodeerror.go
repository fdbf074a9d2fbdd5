package sim

import "github.com/lockstorm/lockstorm/nemesis"

// erring disturbs the nodes' links, because nobody can count on a good answer
// meanwhile.
var erring = nemesis.Carry(
	func(w *World, _ int, e *nemesis.NodeError) error {
		w.answerWith(e.Nodes, errorCauses[e.Error])
		w.links.Disturb(nemesis.Links{Nodes: e.Nodes}, untouched)
		return nil
	},
	func(w *World, _ int, e *nemesis.NodeError) error {
		w.answerWith(e.Nodes, 0)
		w.letGo(nemesis.Links{Nodes: e.Nodes}, untouched)
		return nil
	},
)

var errorCauses = map[nemesis.ErrorName]cause{nemesis.Loading: loading, nemesis.OOM: oom, nemesis.ReadOnly: readOnly}

func (w *World) answerWith(nodes []int, c cause) {
	for _, id := range nemesis.Each(nodes, len(w.nodes)) {
		w.node(id).failing = c
	}
}
