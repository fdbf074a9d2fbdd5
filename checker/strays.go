package checker

// stray is a key that a node keeps under a resource's name.
type stray struct {
	node  int
	token string
}

// keySet enters a key, which obstructs every try for the resource that is under
// way for another token.
func (t *tolerance) keySet(f *fact) {
	r := t.ledger.resource(f.Resource)
	t.forget(f)
	r.kept = append(r.kept, stray{f.Node, f.Token})
	for _, h := range r.holds {
		if h.token != f.Token {
			h.obstructed = h.obstructed.with(f.Node)
		}
	}
}

// forget takes the key of a node off.
func (t *tolerance) forget(f *fact) {
	r := t.ledger.resource(f.Resource)
	r.kept = without(r.kept, func(s *stray) bool { return s.node == f.Node })
}

// obstruct says which nodes keep a key in the way of a try that begins.
func (h *hold) obstruct() {
	for _, s := range h.resource.kept {
		h.obstructed = h.obstructed.with(s.node)
	}
}
