package checker

// stepped counts who is woken.
func (m *measures) stepped(f *fact) {
	if f.Name != wokenStep {
		return
	}
	m.Woken++
	h := f.hold
	if h == nil {
		return
	}
	r := &h.resource.measured
	if h.part.woken == r.grants+1 {
		return // once more
	}
	h.part.woken = r.grants + 1
	r.herd++
	m.Herd = max(m.Herd, r.herd)
}
