package sim

// deferredDeliveries holds the replies of nodes and of the guarded resource that
// arrive while a client is paused with "first: timers". When the client resumes,
// the queue delivers them at the same instant, but after all timers.
type deferredDeliveries struct {
	shut    bool // the client is in such a pause
	waiting []func()
}

// holds stores deliver during such a pause, and reports whether it did.
func (b *deferredDeliveries) holds(deliver func()) bool {
	if b.shut {
		b.waiting = append(b.waiting, deliver)
	}
	return b.shut
}

// releaseDeferred schedules the deferred deliveries when the client resumes.
func (c *client) releaseDeferred() {
	c.deferred.shut = false
	if len(c.deferred.waiting) > 0 {
		c.world.queue.push(c.world.now, deferredArrive, int32(c.id-1))
	}
}

// deliverDeferred makes the deferred deliveries. If the client has been paused again
// meanwhile, that pause decides what happens to them.
func (c *client) deliverDeferred() {
	waiting := c.deferred.waiting
	c.deferred.waiting = nil
	for _, deliver := range waiting {
		deliver()
	}
}
