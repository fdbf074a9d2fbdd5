package checker

// violations counts the violations of a property and keeps the first.
type violations struct {
	count int
	first Finding
}

// add counts a violation. It calls tell for the first only, because describing a violation
// takes longer than finding it.
func (b *violations) add(tell func() Finding) {
	if b.count++; b.count == 1 {
		b.first = tell()
	}
}

// violated returns the finding if there was a violation.
func (b *violations) violated() Finding {
	f := b.first
	f.Verdict, f.Count = Violated, b.count
	return f
}
