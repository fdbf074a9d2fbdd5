package checker

// breaches are the violations of a property: how many there were, and what is told of the
// first.
type breaches struct {
	count int
	first Finding
}

// add counts one more. Only of the first it is asked what to tell, since that takes longer
// than to judge.
func (b *breaches) add(tell func() Finding) {
	if b.count++; b.count == 1 {
		b.first = tell()
	}
}

// violated is the finding where there was one.
func (b *breaches) violated() Finding {
	f := b.first
	f.Verdict, f.Count = Violated, b.count
	return f
}
