package checker

// stray is a key that a node keeps under a resource's name.
type stray struct {
	resource *resource
	node     int
	token    string
}

// keySet enters a key, which obstructs every try for the resource that is under
// way for another token.
func (t *tolerance) keySet(f *fact) {
	r := t.ledger.resource(f.Resource)
	t.forget(f)
	r.kept = append(r.kept, stray{r, f.Node, f.Token})
	for _, h := range r.holds {
		if h.token != f.Token {
			h.obstructed = h.obstructed.with(f.Node)
		}
	}
}

// forget takes the key of a node off.
func (t *tolerance) forget(f *fact) {
	r := t.ledger.resource(f.Resource)
	r.kept = without(r.kept, func(s *stray) bool {
		if s.node == f.Node {
			t.cleared = append(t.cleared, *s)
		}
		return s.node == f.Node
	})
}

// obstruct says which nodes keep a key in the way of a try that was called in this
// instant, or did until then.
func (t *tolerance) obstruct(h *hold) {
	for _, keys := range [][]stray{h.resource.kept, t.cleared} {
		for _, s := range keys {
			if s.resource == h.resource && s.token != h.token {
				h.obstructed = h.obstructed.with(s.node)
			}
		}
	}
}
