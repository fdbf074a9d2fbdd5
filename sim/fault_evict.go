package sim

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// evicting waits for the node's thread if that does something else.
var evicting = world.Carry(
	func(w *World, c world.Case[*nemesis.Evict]) error {
		n := w.node(c.Action.Node)
		if n.down {
			return nil
		}
		n.evicting = eviction{c.Action, c.Number}
		if !n.busy() {
			w.evict(n)
		}
		return nil
	},
	nil,
).With(nemesis.OneKeyFeature)

// eviction is what a fault asks a node to evict.
type eviction struct {
	of    *nemesis.Evict // nil: nothing
	fault int
}

// evict takes keys away from a node, if a fault asks for it.
func (w *World) evict(n *node) {
	e := n.evicting
	if e.of == nil {
		return
	}
	n.evicting = eviction{}
	w.carrier.OnBehalf(e.fault, func() {
		w.forgetEvery(n, e.takes, history.Evicted)
		if e.of.Policy == nemesis.AllKeys && e.of.Resource == "" {
			n.vouched, n.dirty = nil, true // the notes of quarantines are keys without an end
		}
	})
}

// takes reports whether a key has to go.
func (e eviction) takes(resource string, k key) bool {
	if e.of.Resource != "" && resource != e.of.Resource {
		return false
	}
	return e.of.Policy == nemesis.AllKeys || k.volatile()
}
