package sim

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// batches sends the requests of a client to one node as package redisnode does with its
// default options. A request is sent alone while none is under way. Others wait, and are
// sent together, over one connection, when the requests under way have ended, or after a
// flush delay over another connection. A breaker keeps a node that does not answer from
// costing a connection each time.
//
// While the client is paused, waiting requests are not sent. The activity goes on only while
// requests wait: with an empty queue, the end of a batch makes no difference before the
// next request.
type batches struct {
	client     *client
	node       int
	waiting    []pending // the oldest first
	underWay   []*batch  // in the order in which they were sent
	spare      []*batch  // that have ended
	breaker    breaker
	answeredAt env.Instant // when the node answered last; 0: never
	flush      env.Instant // when what waits goes out all the same, by the client's clock
	flusher    *activity   // sends waiting requests; nil: none
}

// newBatches returns batches with room for the most usual case, that one request is under way
// and one waits.
func newBatches(c *client, node int) *batches {
	b := &struct {
		batches
		waiting         [2]pending
		underWay, spare [2]*batch
		first           batch
		request         [1]pending
	}{batches: batches{client: c, node: node, flush: env.Never}}
	b.first.requests = b.request[:0]
	b.spare[0] = &b.first
	b.batches.waiting, b.batches.underWay, b.batches.spare = b.waiting[:0], b.underWay[:0], b.spare[:1]
	return &b.batches
}

// pending is a request that is not under way.
type pending struct {
	round      *round
	withScript bool // it brings its script along
	rejected   bool // the node has rejected its native command
}

// batch is a group of requests that were sent together.
type batch struct {
	requests   []pending
	connection *connection // nil: one request, on a connection to itself
	probe      bool        // it is one request, to a node that does not answer
	left       int         // replies that have not come
	deadline   env.Instant // the last of its requests', at which the connection is closed
	ended      env.Instant // when its last reply came, or the news of a reset
	answered   bool        // the node answered one of them
	refused    bool        // there was no connection, which says nothing new of the node
}

// breaker says what is sent to a node, depending on its last replies.
type breaker uint8

const (
	closed   breaker = iota // everything
	halfOpen                // no answer to a batch: one request at a time
	open                    // nor to one that went out alone: what would have to wait fails
)

// These are the constants of package redisnode, whose behaviour this is.
const (
	batchSize     = 256                   // requests in a batch at most
	batchesAtOnce = 64                    // connections to a node at most
	flushDelay    = time.Millisecond      // for each connection in use
	probeDelay    = 64 * time.Millisecond // the same, where the node does not answer
)

// sendBatched sends a request in the client's batches to a node.
func (c *client) sendBatched(r *round, node int) {
	l := c.world.network.link(c.id, node)
	if l.batches == nil {
		l.batches = newBatches(c, node)
	}
	l.batches.submit(pending{round: r})
}

// submit sends a request or queues it. For a node that does not answer at most one request
// waits.
func (b *batches) submit(p pending) {
	b.settle()
	switch busy := len(b.underWay) > 0; {
	case b.breaker == open && busy && len(b.waiting) > 0:
		p.round.deliver(b.node, env.Failed, breakerOpen)
		return
	case !busy && len(b.waiting) == 0 && !b.over(p): // as most often
		b.launch(p)
		b.flush = env.Never
		return
	}
	b.waiting = append(b.waiting, p)
	p.round.unsent = p.round.unsent.With(b.node)
	if len(b.underWay) == 0 {
		b.send()
	}
	b.schedule()
}

// send sends the next batch of waiting requests.
func (b *batches) send() {
	b.waiting = slices.DeleteFunc(b.waiting, b.over)
	if len(b.waiting) == 0 {
		return
	}
	first, after := 0, min(len(b.waiting), batchSize)
	if b.breaker != closed {
		first = b.latestDeadline()
		after = first + 1
	}
	b.launch(b.waiting[first:after]...)
	b.waiting = slices.Delete(b.waiting, first, after)
}

// launch sends requests as one batch.
func (b *batches) launch(requests ...pending) {
	next := b.newBatch()
	next.probe, next.ended = b.breaker != closed, env.Never
	next.requests = append(next.requests, requests...)
	if next.left = len(requests); next.left > 1 {
		next.connection = &connection{}
	}
	b.underWay = append(b.underWay, next)
	for _, p := range next.requests {
		next.deadline = max(next.deadline, p.round.giveUp)
		p.round.unsent = p.round.unsent.Without(b.node)
		b.client.world.sendPending(p, b.node, next.connection)
	}
}

// over reports whether the request has been answered or given up.
func (b *batches) over(p pending) bool {
	return !p.round.pending.Has(b.node) || b.client.mono() >= p.round.giveUp
}

// newBatch returns an empty batch, if possible one that has ended: batches are most of
// what would be allocated here.
func (b *batches) newBatch() *batch {
	last := len(b.spare) - 1
	if last < 0 {
		return &batch{}
	}
	u := b.spare[last]
	b.spare = b.spare[:last]
	*u = batch{requests: u.requests[:0]}
	return u
}

// latestDeadline returns the index of the waiting request with the latest deadline, which
// is the most likely to see the node come back.
func (b *batches) latestDeadline() int {
	best := 0
	for i, p := range b.waiting {
		if p.round.giveUp > b.waiting[best].round.giveUp {
			best = i
		}
	}
	return best
}

// sendPending sends a request over the connection of its batch, or over one of its own.
func (w *World) sendPending(p pending, node int, shared *connection) {
	i := w.network.messages.put(message{round: p.round, sent: w.now, client: int32(p.round.client.id), node: int32(node), withScript: p.withScript, rejected: p.rejected})
	if shared != nil {
		w.enqueue(i, shared)
	}
	w.transmit(i)
}

// schedule makes sure that waiting requests are sent when they are due.
func (b *batches) schedule() {
	switch {
	case len(b.waiting) == 0:
		b.flush = env.Never
		return
	case b.flush == env.Never && len(b.underWay) < batchesAtOnce:
		delay := flushDelay
		if b.breaker != closed {
			delay = probeDelay
		}
		b.flush = b.client.mono().Add(time.Duration(len(b.underWay)) * delay)
	}
	b.startFlushing()
}

// startFlushing starts the activity that sends waiting requests, and that notices when
// messages held up by a fault have arrived.
func (b *batches) startFlushing() {
	if b.flusher == nil {
		b.flusher = b.client.world.idleActivity()
		b.flusher.begin(b.client, "batches", b)
	}
}

// act implements [actor]: it is a turn of the flusher.
func (b *batches) act() {
	if b.process() {
		b.flusher.wait(b.nextDue(), awaitsConnection)
		return
	}
	b.flusher.end()
	b.flusher = nil
}

// process does what is due, and reports whether there is more to wait for. The end of a
// batch triggers the next; for a node that does not answer, one connection is enough.
func (b *batches) process() bool {
	ended := b.settle()
	due := b.client.mono() >= b.flush && len(b.underWay) < batchesAtOnce && !b.postpone()
	if ended || due {
		b.flush = env.Never
	}
	if due || ended && (b.breaker == closed || len(b.underWay) == 0) {
		b.send()
	}
	b.schedule()
	return len(b.waiting) > 0 || len(b.client.world.network.link(b.client.id, b.node).draining) > 0
}

// postpone delays the flush while replies arrive, and reports whether it did: the batch
// that is being answered will end soon.
func (b *batches) postpone() bool {
	later := b.answeredAt.Add(time.Duration(len(b.underWay)) * flushDelay)
	if len(b.underWay) == 0 || b.breaker != closed || b.answeredAt == 0 || later <= b.client.mono() {
		return false
	}
	b.flush = later
	return true
}

// nextDue returns the next time at which there is something to do if no reply arrives
// before.
func (b *batches) nextDue() env.Instant {
	at := b.flush
	for _, u := range b.underWay {
		at = min(at, u.deadline)
	}
	return at
}

// settle removes the batches that have ended, and reports whether there were any. If the
// last one under way was refused, the waiting requests are refused too.
func (b *batches) settle() bool {
	now, refused, kept := b.client.mono(), false, 0
	for _, u := range b.underWay {
		if u.left > 0 && now < u.deadline {
			b.underWay[kept] = u
			kept++
			continue
		}
		b.updateBreaker(u)
		refused = u.refused && !u.answered
		clear(u.requests)
		b.spare = append(b.spare, u)
	}
	if kept == len(b.underWay) {
		return false
	}
	clear(b.underWay[kept:])
	b.underWay = b.underWay[:kept]
	if refused && len(b.underWay) == 0 {
		b.failAll()
	}
	b.client.world.drained(b.client.id, b.node)
	return true
}

// failAll fails the waiting requests: the node refuses connections.
func (b *batches) failAll() {
	waiting := b.waiting
	b.waiting = nil
	for _, p := range waiting {
		p.round.unsent = p.round.unsent.Without(b.node)
		p.round.deliver(b.node, env.Failed, refused)
	}
}

// updateBreaker updates the breaker at the end of a batch.
func (b *batches) updateBreaker(u *batch) {
	if u.answered || u.refused || b.answeredAt > min(u.ended, u.deadline) {
		return
	}
	b.breaker = max(b.breaker, halfOpen)
	if u.probe {
		b.breaker = open
	}
}

// arrived records a reply to a request, or the reset of its connection. A paused client
// does so as well: the reply waits in its socket.
func (b *batches) arrived(r *round, answer env.Answer, why cause) {
	if !b.client.stopped() {
		b.settle()
	}
	k := slices.IndexFunc(b.underWay, func(u *batch) bool { return u.carries(r) })
	if k < 0 {
		return
	}
	u, now := b.underWay[k], b.client.mono()
	if u.left--; u.left == 0 {
		u.ended = now
	}
	switch {
	case why == refused:
		u.refused = true
	case answer != env.Lost:
		u.answered, b.answeredAt, b.breaker = true, now, closed
	}
	if b.flusher != nil {
		b.client.world.wake(b.flusher)
	}
}

func (u *batch) carries(r *round) bool {
	return slices.ContainsFunc(u.requests, func(p pending) bool { return p.round == r })
}

// carry reports whether a request of the round is under way.
func (b *batches) carry(r *round) bool {
	return slices.ContainsFunc(b.underWay, func(u *batch) bool { return u.carries(r) })
}

// rounds returns the rounds with a request under way.
func (b *batches) rounds() []*round {
	var rounds []*round
	for _, u := range b.underWay {
		for _, p := range u.requests {
			rounds = append(rounds, p.round)
		}
	}
	return rounds
}
