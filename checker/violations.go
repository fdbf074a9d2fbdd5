package checker

// violations are the violations of a property: how many there were, and what is told of the
// first.
type violations struct {
	count int
	first Finding
}

// add counts one more. Only of the first it is asked what to tell, since that takes longer
// than to judge.
func (b *violations) add(tell func() Finding) {
	if b.count++; b.count == 1 {
		b.first = tell()
	}
}

// violated is the finding where there was one.
func (b *violations) violated() Finding {
	f := b.first
	f.Verdict, f.Count = Violated, b.count
	return f
}
