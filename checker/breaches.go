package checker

// breaches are the violations of a property: how many there were, and what is told of the
// first.
type breaches struct {
	count int
	story string
	where Place
}

// add counts one more. Only of the first it is asked what to tell, since that takes longer
// than to judge.
func (b *breaches) add(tell func() (string, Place)) {
	if b.count++; b.count == 1 {
		b.story, b.where = tell()
	}
}

// violated is the finding where there was one.
func (b *breaches) violated() Finding {
	return Finding{Verdict: Violated, Count: b.count, Story: b.story, Where: &b.where}
}
