package checker

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Orphans is what was left on nodes.
type Orphans struct {
	// OrphanKeys is the number of keys that expired on a node after their try had
	// been refused or released: nobody had deleted them. It is 0 where the history
	// does not record the nodes' keys.
	OrphanKeys int `json:"orphan_keys" runs:"sum"`
}

func (o *Orphans) figures(int) []Figure {
	return rarity(o.OrphanKeys, "orphan key")
}

// rarity tells what does not happen in most runs.
func rarity(n int, thing string) []Figure {
	if n == 0 {
		return nil
	}
	return []Figure{{also, []string{textfmt.Count(n, thing)}}}
}

type orphanMeter struct {
	Orphans
	state   *state
	keys    bool    // the history records them
	over    []*hold // that were refused or released in this instant
	orphans perResource[[]orphan]
}

// orphan is a key on a node whose try is over.
type orphan struct {
	node  int
	token string
}

func newOrphanMeter(h history.Header, l *state) meter { return &orphanMeter{state: l, keys: h.Keys} }

func (m *orphanMeter) wants() kinds {
	if !m.keys {
		return 0
	}
	return kindSet(history.Refused, history.Released, history.KeySet, history.KeyGone)
}

func (m *orphanMeter) observe(f *fact) {
	switch f.Kind {
	case history.Refused, history.Released:
		if f.hold != nil {
			m.over = append(m.over, f.hold)
		}
	case history.KeySet:
		m.keySet(f)
	case history.KeyGone:
		if m.disown(m.state.resource(f.Resource), f.Node) && f.Reason == history.Expired {
			m.OrphanKeys++
		}
	}
}

// keySet takes a key down that is set when its try is over.
func (m *orphanMeter) keySet(f *fact) {
	r := m.state.resource(f.Resource)
	m.disown(r, f.Node)
	if r.find(f.Token) == nil && !f.client.dead {
		m.adopt(r, orphan{f.Node, f.Token})
	}
}

func (*orphanMeter) settles() kinds { return kindSet(history.Refused, history.Released) }

// settle takes down the keys that the tries have left which were over in this
// instant.
func (m *orphanMeter) settle() {
	for _, h := range m.over {
		for rest := h.keys.set; rest != 0; {
			n := rest.first()
			rest = rest.without(n)
			m.adopt(h.resource, orphan{n, h.token})
		}
	}
	m.over = m.over[:0]
}

// adopt takes down an orphan. A node keeps one key of a resource.
func (m *orphanMeter) adopt(r *resource, o orphan) {
	m.disown(r, o.node)
	list := m.orphans.of(r)
	*list = append(*list, o)
}

// disown forgets the orphan of a node, and reports whether there was one.
func (m *orphanMeter) disown(r *resource, node int) bool {
	list := m.orphans.of(r)
	before := len(*list)
	*list = without(*list, func(o *orphan) bool { return o.node == node })
	return len(*list) < before
}

func (m *orphanMeter) measure(all *Measurements, _ history.Time) { all.Orphans = m.Orphans }
