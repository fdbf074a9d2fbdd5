package redisnode

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/env"
)

// This file queues the requests to a node and sends them in batches. A request is sent at
// once, and alone, while fewer than [Options.MaxInFlight] batches are under way. Otherwise it
// waits. When a batch ends, all waiting requests are sent together as one pipeline, and share
// its system calls and goroutine switches. So a single client never waits, and many clients do
// not each pay the full price of a message.
//
// A slow node must not hold requests up: if no batch ends for a while, the waiting requests
// are sent on a further connection. File breaker.go limits what is sent to a node that does
// not reply, and deadline.go expires requests.

// flushDelay is how long requests wait, for each connection in use, before they are sent on a
// further one. It grows with the connections so that a distant node gets as many as it needs,
// and a dead node only a few.
const flushDelay = time.Millisecond

// maxBatch is the largest number of requests in a batch.
const maxBatch = 256

// node is one master.
type node struct {
	nodes  *Nodes
	client *redis.Client
	number int // from 1

	// The replies to requests that the node did not answer.
	timeoutReply env.Reply // the request expired after it was sent
	unsentReply  env.Reply // the request expired before it was sent
	openReply    env.Reply // the breaker is open

	maxInFlight int           // batches under way from which on requests wait
	maxBatches  int           // batches that can be under way
	wake        chan struct{} // wakes an idle worker; has room for all

	mu         sync.Mutex
	unanswered *request   // the head of the list, the newest request
	waiting    []*request // the unanswered requests that are not under way, the oldest first
	active     int        // workers that are starting or carry a batch
	starting   int        // active workers that have not dequeued yet: a request is reserved for each
	idle       int        // workers that wait for wake
	breaker    breakerState
	flushAt    time.Time // when the waiting requests are sent all the same; zero: nothing waits, or no connection is left
	lastReply  time.Time // when the node last answered a request
	timer      *time.Timer
	timerAt    time.Time // when the timer fires; zero: it is stopped
	closed     bool
}

// batch is requests that are sent together.
type batch struct {
	requests []*request
	probe    bool // it is a single request to a node that does not reply
}

// request is a query on its way to one node.
type request struct {
	*query
	replies  chan<- env.Reply // has room for the reply
	deadline time.Time        // zero: the request never expires

	prev, next *request // in the list of unanswered requests
	answered   bool
	sent       bool // it may have reached the node
}

func newNode(of *Nodes, number int, client *redis.Client, o Options) *node {
	n := &node{
		nodes: of, number: number, client: client,
		maxInFlight: o.MaxInFlight, maxBatches: o.PoolSize, wake: make(chan struct{}, o.PoolSize),
	}
	n.timeoutReply = n.reply(env.Reply{}, context.DeadlineExceeded)
	n.unsentReply = n.reply(env.Reply{}, errUnsent)
	n.openReply = n.reply(env.Reply{}, errBreakerOpen)
	n.timer = time.AfterFunc(time.Hour, n.onTimer)
	n.timer.Stop()
	return n
}

// submit accepts a request.
func (n *node) submit(r *request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		n.deliver(r, n.reply(env.Reply{}, errClosedMeanwhile))
		return
	}
	if r.next = n.unanswered; r.next != nil {
		r.next.prev = r
	}
	n.unanswered = r
	n.startTimer(r.deadline)
	n.enqueue(r)
}

// enqueue adds a request to the queue and starts a worker if it may be sent now. While the
// breaker is open at most one request waits; others are refused.
func (n *node) enqueue(r *request) {
	if n.breaker == breakerOpen && n.active >= n.maxInFlight && len(n.waiting) > 0 {
		n.unlink(r)
		n.deliver(r, n.openReply)
		return
	}
	n.waiting = append(n.waiting, r)
	switch {
	case n.active < n.maxInFlight:
		n.startWorker()
	case n.flushAt.IsZero():
		n.scheduleFlush()
	}
}

// scheduleFlush sets the time at which the waiting requests are sent all the same.
func (n *node) scheduleFlush() {
	n.flushAt = time.Time{}
	if len(n.waiting) > 0 && n.active < n.maxBatches {
		n.flushAt = time.Now().Add(n.flushWait())
		n.startTimer(n.flushAt)
	}
}

// flushWait returns how long requests wait while no batch ends.
func (n *node) flushWait() time.Duration {
	delay := flushDelay
	if n.breaker != breakerClosed {
		delay = brokenFlushDelay
	}
	return time.Duration(n.active) * delay
}

// startWorker wakes an idle worker or starts a new one.
func (n *node) startWorker() {
	n.active++
	n.starting++
	if n.idle > 0 {
		n.idle--
		n.wake <- struct{}{}
		return
	}
	if n.nodes.workers.add(1) {
		go n.work()
	}
}

// work sends batches to the node. The goroutine is kept until the nodes are closed, unless
// enough others are idle: its stack has grown to the size that the client needs, and growing a
// new one takes longer than the rest of the work here.
func (n *node) work() {
	defer n.nodes.workers.done()
	p := &pipeline{node: n, redis: n.client.Pipeline()}
	for started := true; ; {
		next, keep := n.take(started)
		started = false
		switch {
		case next.requests != nil:
			p.exchange(next)
		case !keep:
			return
		default:
			select {
			case <-n.wake:
				started = true
			case <-n.nodes.life.Done():
				return
			}
		}
	}
}

// take dequeues the next batch, leaving one request for each worker that is still starting.
// started says that the calling worker was starting until now. If the batch is empty the
// worker becomes idle (keep) or ends.
func (n *node) take(started bool) (next batch, keep bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if started {
		n.starting--
	}
	size := min(len(n.waiting)-n.starting, maxBatch)
	surplus := n.breaker != breakerClosed && !started && n.active > n.maxInFlight // more workers than a node without replies needs
	if size <= 0 || surplus {
		n.active--
		if keep = n.idle < n.maxInFlight; keep {
			n.idle++
		}
		n.scheduleFlush()
		return batch{}, keep
	}
	if next.probe = n.breaker != breakerClosed; next.probe {
		next.requests = n.takeProbe()
	} else {
		next.requests, n.waiting = n.waiting[:size:size], n.waiting[size:]
	}
	for _, r := range next.requests {
		r.sent = true
	}
	if len(n.waiting) == 0 {
		n.waiting = nil
	}
	n.scheduleFlush()
	return next, true
}

// complete answers a request whose last reply has been read, or whose batch has failed.
func (n *node) complete(r *request, replies []*redis.Cmd) {
	reply, err := r.read(replies)
	if other := r.after(err); other != nil {
		if r.fallback != nil {
			n.nodes.servers.rejected(n.number, err)
		}
		n.resend(r, other)
		return
	}
	n.answer(r, reply, err)
}

// resend sends a request again in another form, because the node has rejected the first.
func (n *node) resend(r *request, form *query) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !r.answered {
		r.query, r.sent = form, false
		n.enqueue(r)
	}
}

// answer answers a request, unless it has expired.
func (n *node) answer(r *request, reply env.Reply, err error) {
	n.mu.Lock()
	n.lastReply = time.Now()
	expired := r.answered
	if !expired {
		n.unlink(r)
	}
	n.mu.Unlock()
	if !expired {
		n.deliver(r, n.reply(reply, err))
	}
}

func (n *node) deliver(r *request, reply env.Reply) {
	r.replies <- reply
	n.nodes.requests.done()
}

// reply fills in the node, the answer that err stands for, and the error's context.
func (n *node) reply(r env.Reply, err error) env.Reply {
	r.Node, r.Answer = n.number, answer(r.Answer, err)
	if err != nil {
		if unsent := new(dialError); errors.As(err, &unsent) {
			err = unsent.reason
		}
		r.Err = fmt.Errorf("%s: %w", n.client.Options().Addr, err)
	}
	return r
}

// unlink removes a request from the list of unanswered ones.
func (n *node) unlink(r *request) {
	r.answered = true
	if r.next != nil {
		r.next.prev = r.prev
	}
	if r.prev == nil {
		n.unanswered = r.next
	} else {
		r.prev.next = r.next
	}
	r.prev, r.next = nil, nil
}

// close fails all requests, because the nodes are being closed.
func (n *node) close() {
	n.mu.Lock()
	var all []*request
	for n.unanswered != nil {
		all = append(all, n.unanswered)
		n.unlink(n.unanswered)
	}
	n.waiting, n.closed = nil, true
	n.timer.Stop()
	n.mu.Unlock()
	for _, r := range all {
		n.deliver(r, n.reply(env.Reply{}, errClosedMeanwhile))
	}
}

// errClosedMeanwhile is the error of a request that was under way when the nodes were closed.
var errClosedMeanwhile = errors.New("the nodes have been closed")
