package checker

// orphanKey is a key that a node keeps under a resource's name.
type orphanKey struct {
	resource *resource
	node     int
	token    string
}

// keySet notes a key. It obstructs all tries under way for another token.
func (t *tolerance) keySet(f *fact) {
	r := t.state.resource(f.Resource)
	t.forget(f)
	r.kept = append(r.kept, orphanKey{r, f.Node, f.Token})
	for _, h := range r.holds {
		if h.token != f.Token {
			h.obstructed = h.obstructed.with(f.Node)
		}
	}
}

// forget notes that a node has no key any more.
func (t *tolerance) forget(f *fact) {
	r := t.state.resource(f.Resource)
	r.kept = without(r.kept, func(s *orphanKey) bool {
		if s.node == f.Node {
			t.cleared = append(t.cleared, *s)
		}
		return s.node == f.Node
	})
}

// obstruct notes the nodes whose keys obstruct a try that was called in this instant, or did
// until then.
func (t *tolerance) obstruct(h *hold) {
	for _, keys := range [][]orphanKey{h.resource.kept, t.cleared} {
		for _, s := range keys {
			if s.resource == h.resource && s.token != h.token {
				h.obstructed = h.obstructed.with(s.node)
			}
		}
	}
}
