package checker

// SetSegments says how many sections a segment of the judge of effect exclusion
// has at least before it is cut, and at most before it is left out.
func (p *Checker) SetSegments(least, most int) {
	for _, j := range p.allCheckers() {
		if e, ok := j.(*effect); ok {
			e.minSegment, e.maxSegment = least, most
		}
	}
}

// SetWait says how many accepted sections a segment has at most while it is not cut because a write
// of unknown outcome may still be applied.
func (p *Checker) SetWait(most int) { p.checkerOf(Effect).(*effect).maxWait = most }

// Places is how many holds the panel has had to remember at one time, at most.
func (p *Checker) Places() int { return p.timeline.Places }
