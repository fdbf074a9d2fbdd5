package locktest

// traits are what runs have shown of the lock itself, by which it is known what can be asked
// of it.
type traits struct {
	fences  bool // grants bear fences
	tells   bool // of a loss
	endless bool // some grant has no end of validity
}

// add adds what else has been seen.
func (t *traits) add(more traits) {
	t.fences = t.fences || more.fences
	t.tells = t.tells || more.tells
	t.endless = t.endless || more.endless
}
