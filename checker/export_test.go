package checker

// SetSegments sets how many sections a segment of effect exclusion has
// at least before it is cut, and at most before it is left out. A search has no deadline then, because
// laws must not depend on how fast a machine is.
func (c *Checker) SetSegments(least, most int) {
	for _, j := range c.allCheckers() {
		if e, ok := j.(*effect); ok {
			e.minSegment, e.maxSegment, e.orders.limit = least, most, 0
		}
	}
}

// SetWait sets how many accepted sections a segment has at most while it is not cut because a write
// of unknown outcome may still be applied.
func (c *Checker) SetWait(most int) { c.checkerOf(Effect).(*effect).maxWait = most }

// Places is how many holds the checker has had to remember at one time, at most.
func (c *Checker) Places() int { return c.timeline.Places }
