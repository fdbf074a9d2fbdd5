package checker

// SetSegments says how many sections a segment of the judge of effect exclusion
// has at least before it is cut, and at most before it is left out.
func (p *Panel) SetSegments(least, most int) {
	for _, j := range p.judges {
		if e, ok := j.(*effect); ok {
			e.minSegment, e.maxSegment = least, most
		}
	}
}
