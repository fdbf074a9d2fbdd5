package sim

// inbox is what has come for a client that is paused and is to see what is due
// before it: replies of nodes and answers of the guarded resource. It is their
// place in the queue that makes the difference: what is left in it when the
// client goes on is delivered at the same instant, after all timers.
type inbox struct {
	shut    bool // the client is in such a pause
	waiting []func()
}

// holds takes in what delivers a message, and reports whether it has to wait.
func (b *inbox) holds(deliver func()) bool {
	if b.shut {
		b.waiting = append(b.waiting, deliver)
	}
	return b.shut
}

// leaveInbox ends the pause for the client's inbox.
func (c *client) leaveInbox() {
	c.inbox.shut = false
	if len(c.inbox.waiting) > 0 {
		c.world.queue.push(c.world.now, inboxOpens, int32(c.id-1))
	}
}

// openInbox delivers what has waited. If the client has been paused again
// meanwhile, that pause says what becomes of it.
func (c *client) openInbox() {
	waiting := c.inbox.waiting
	c.inbox.waiting = nil
	for _, deliver := range waiting {
		deliver()
	}
}
