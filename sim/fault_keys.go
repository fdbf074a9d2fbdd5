package sim

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var keyFaults = handlers{
	// evicting waits for the node's thread if that does something else.
	handler[*nemesis.Evict]{
		Features: []nemesis.Feature{nemesis.OneKeyFeature},
		Begin: func(w *World, f injection[*nemesis.Evict]) error {
			n := w.node(f.Action.Node)
			if n.down {
				return nil
			}
			n.evicting = eviction{f.Action, f.Number}
			if !n.busy() {
				w.evict(n)
			}
			return nil
		},
	},
	handler[*nemesis.ScriptFlush]{
		Begin: func(w *World, f injection[*nemesis.ScriptFlush]) error {
			w.node(f.Action.Node).loadLater()
			return nil
		},
	},
	// erring disturbs the nodes' links, because nobody can count on a good answer
	// meanwhile.
	handler[*nemesis.NodeError]{
		Features: []nemesis.Feature{nemesis.LoadingFeature},
		Begin: func(w *World, f injection[*nemesis.NodeError]) error {
			w.answerWith(f.Action.Nodes, errorCauses[f.Action.Error])
			w.links.Disturb(nemesis.Links{Nodes: f.Action.Nodes}, untouched)
			return nil
		},
		End: func(w *World, f injection[*nemesis.NodeError]) error {
			w.answerWith(f.Action.Nodes, 0)
			w.letGo(nemesis.Links{Nodes: f.Action.Nodes}, untouched)
			return nil
		},
	},
}

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
	w.injector.OnBehalf(e.fault, func() {
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

var errorCauses = map[nemesis.ErrorName]cause{nemesis.Loading: loading, nemesis.OOM: oom, nemesis.ReadOnly: readOnly}

func (w *World) answerWith(nodes []int, c cause) {
	for _, id := range nemesis.Each(nodes, len(w.nodes)) {
		w.node(id).failing = c
	}
}
