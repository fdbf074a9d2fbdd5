package sim

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var keyFaults = handlers{
	// A busy node evicts once it has finished its command.
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
	// The nodes' links count as down: no client can expect a good reply.
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

// eviction is the eviction that a fault has requested of a node.
type eviction struct {
	of    *nemesis.Evict // nil: nothing
	fault int
}

// evict removes keys from a node if a fault has requested it.
func (w *World) evict(n *node) {
	e := n.evicting
	if e.of == nil {
		return
	}
	n.evicting = eviction{}
	w.injector.OnBehalf(e.fault, func() {
		w.forgetEvery(n, e.takes, history.Evicted)
		if e.of.Policy == nemesis.AllKeys && e.of.Resource == "" {
			n.attested, n.dirty = nil, true // attestations are keys without a TTL
		}
	})
}

// takes reports whether the eviction removes a key.
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
