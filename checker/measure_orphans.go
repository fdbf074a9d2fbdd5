package checker

import "github.com/lockstorm/lockstorm/history"

// orphan is a key on a node whose try is over.
type orphan struct {
	node  int
	token string
}

// leave notes a try that is over; see [measures.settle].
func (m *measures) leave(h *hold) {
	if m.keys && h != nil {
		m.over = append(m.over, h)
	}
}

// settle takes down the keys that the tries have left which were over in this
// instant.
func (m *measures) settle() {
	for _, h := range m.over {
		for rest := h.keys.set; rest != 0; {
			n := rest.first()
			rest = rest.without(n)
			h.resource.measured.adopt(orphan{n, h.token})
		}
	}
	m.over = m.over[:0]
}

// adopt takes down an orphan. A node keeps one key of a resource.
func (r *measured) adopt(o orphan) {
	r.disown(o.node)
	r.orphans = append(r.orphans, o)
}

func (r *measured) disown(node int) {
	r.orphans = without(r.orphans, func(o *orphan) bool { return o.node == node })
}

// keyed follows the keys of tries that are over.
func (m *measures) keyed(f *fact) {
	if !m.keys {
		return
	}
	r := m.ledger.resource(f.Resource)
	if f.Kind == history.KeySet {
		if len(r.measured.orphans) > 0 {
			r.measured.disown(f.Node)
		}
		if r.find(f.Token) == nil && !f.client.dead {
			r.measured.adopt(orphan{f.Node, f.Token})
		}
		return
	}
	before := len(r.measured.orphans)
	if before == 0 {
		return
	}
	r.measured.disown(f.Node)
	if f.Reason == "expired" {
		m.OrphanKeys += before - len(r.measured.orphans)
	}
}
