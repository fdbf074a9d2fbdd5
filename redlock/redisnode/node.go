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

// This file is how requests find their way to a node. As long as there are fewer under
// way than may be abreast, a request goes out at once and alone. Others wait for the end
// of one of them, and all that wait then go out together, as one pipeline, whose price in
// system calls and turns of goroutines they share. So a client on its own waits for
// nobody, and many clients do not each pay for what they all need.
//
// A node that does not answer must not make them wait: when nothing has ended for a while
// the next ones go out all the same, on a further connection. What becomes of
// them where nothing is heard of a node for longer is in hearing.go, and how they are given
// up in alarm.go.

// turn is the while after which requests that wait go out all the same, if one connection
// is in use. It is as many times as long as there are connections in use: on a long way
// there are then as many as it takes, and only a few to a node that is dead.
const turn = time.Millisecond

// lotSize is how many requests go out together at most.
const lotSize = 256

// node is one master.
type node struct {
	nodes   *Nodes
	client  *redis.Client
	number  int       // from 1
	late    env.Reply // to a request that is given up on its way
	unsent  env.Reply // to one that is given up before it is sent
	refusal env.Reply // to one that is not sent because the node is mute

	abreast int           // requests that go out at once
	limit   int           // lots that can be under way
	wake    chan struct{} // for the workers that have nothing to do; has room for all

	mu      sync.Mutex
	open    *request   // of those that are not answered yet, the last that has come
	waiting []*request // those of them that are not under way, the oldest first
	busy    int        // workers that have something to do
	called  int        // those of them that have not yet begun: there is a request for each
	idle    int        // workers that have not
	state   hearing
	due     time.Time // when those that wait go out all the same; zero: none do, or there is no connection for them
	moved   time.Time // when a request was last answered by the node: a batch that moves on is waited for
	alarm   *time.Timer
	rings   time.Time // when alarm does; zero: it does not
	closed  bool
}

// lot is requests that go out together.
type lot struct {
	requests []*request
	probe    bool // it is one, to a node of which nothing is heard
}

// request is a question on its way to one node.
type request struct {
	*question
	replies  chan<- env.Reply // has room for it
	deadline time.Time        // zero: it is never given up

	prev, next *request // among those that are not answered
	answered   bool
	sent       bool // it may have reached the node
}

func newNode(of *Nodes, number int, client *redis.Client, o Options) *node {
	n := &node{
		nodes: of, number: number, client: client,
		abreast: o.Abreast, limit: o.PoolSize, wake: make(chan struct{}, o.PoolSize),
	}
	n.late = n.reply(env.Reply{}, context.DeadlineExceeded)
	n.unsent = n.reply(env.Reply{}, errUnsent)
	n.refusal = n.reply(env.Reply{}, errRefused)
	n.alarm = time.AfterFunc(time.Hour, n.ring)
	n.alarm.Stop()
	return n
}

// submit takes a request over.
func (n *node) submit(r *request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		n.tell(r, n.reply(env.Reply{}, errGivenUp))
		return
	}
	n.enter(r)
	n.setAlarm(r.deadline)
	n.await(r)
}

// await lets a request wait for its turn, which may be now. For that of a mute node no
// more than one waits.
func (n *node) await(r *request) {
	if n.state == mute && n.busy >= n.abreast && len(n.waiting) > 0 {
		n.leave(r)
		n.tell(r, n.refusal)
		return
	}
	n.waiting = append(n.waiting, r)
	switch {
	case n.busy < n.abreast:
		n.employ()
	case n.due.IsZero():
		n.hurry()
	}
}

// hurry sets the time at which those that wait go out all the same.
func (n *node) hurry() {
	n.due = time.Time{}
	if len(n.waiting) > 0 && n.busy < n.limit {
		n.due = time.Now().Add(n.patience())
		n.setAlarm(n.due)
	}
}

// patience is how long those that wait do so while nothing is heard.
func (n *node) patience() time.Duration {
	pace := turn
	if n.state != answers {
		pace = muteTurn
	}
	return time.Duration(n.busy) * pace
}

// employ has one more worker see to those that wait.
func (n *node) employ() {
	n.busy++
	n.called++
	if n.idle > 0 {
		n.idle--
		n.wake <- struct{}{}
		return
	}
	if n.nodes.workers.join(1) {
		go n.work()
	}
}

// work carries lots to the node. A goroutine that has begun to stays until the nodes are
// closed, unless there are enough: its stack has grown to what a client needs, which takes
// a new one longer than all the rest of what is done here.
func (n *node) work() {
	defer n.nodes.workers.leave()
	p := &pipeline{node: n, redis: n.client.Pipeline()}
	for called := true; ; {
		lot, stays := n.take(called)
		called = false
		switch {
		case lot.requests != nil:
			p.exchange(lot.requests, lot.probe)
		case !stays:
			return
		default:
			select {
			case <-n.wake:
				called = true
			case <-n.nodes.life.Done():
				return
			}
		}
	}
}

// take returns those that wait, but for one for each worker that has been called and not
// begun. If it returns none the worker has nothing to do, and stays or not.
func (n *node) take(called bool) (next lot, stays bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if called {
		n.called--
	}
	most := min(len(n.waiting)-n.called, lotSize)
	enough := n.state != answers && !called && n.busy > n.abreast // workers, for a node that does not answer
	if most <= 0 || enough {
		n.busy--
		if stays = n.idle < n.abreast; stays {
			n.idle++
		}
		n.hurry()
		return lot{}, stays
	}
	if next.probe = n.state != answers; next.probe {
		next.requests = n.probe()
	} else {
		next.requests, n.waiting = n.waiting[:most:most], n.waiting[most:]
	}
	for _, r := range next.requests {
		r.sent = true
	}
	if len(n.waiting) == 0 {
		n.waiting = nil
	}
	n.hurry()
	return next, true
}

// complete answers a request whose last reply has been read, or never will be.
func (n *node) complete(r *request, replies []*redis.Cmd) {
	reply, err := r.read(replies)
	if r.script != nil && redis.HasErrorPrefix(err, "NOSCRIPT") {
		n.again(r)
		return
	}
	n.answer(r, reply, err)
}

// until returns a context that ends with the last of the requests.
func (n *node) until(lot []*request) (context.Context, context.CancelFunc) {
	last := lot[0].deadline
	for _, r := range lot {
		if r.deadline.IsZero() {
			return context.WithCancel(n.nodes.life)
		}
		if last.Before(r.deadline) {
			last = r.deadline
		}
	}
	return context.WithDeadline(n.nodes.life, last)
}

// again sends a request whose script the node does not know with its script. It has had no
// effect.
func (n *node) again(r *request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !r.answered {
		r.question, r.sent = r.whole(), false
		n.await(r)
	}
}

// answer answers a request, if it has not been given up.
func (n *node) answer(r *request, reply env.Reply, err error) {
	n.mu.Lock()
	n.moved = time.Now()
	late := r.answered
	if !late {
		n.leave(r)
	}
	n.mu.Unlock()
	if !late {
		n.tell(r, n.reply(reply, err))
	}
}

func (n *node) tell(r *request, reply env.Reply) {
	r.replies <- reply
	n.nodes.requests.leave()
}

// reply completes a reply by what a request's end means.
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

// enter takes note of a request that has to be answered.
func (n *node) enter(r *request) {
	if r.next = n.open; r.next != nil {
		r.next.prev = r
	}
	n.open = r
}

func (n *node) leave(r *request) {
	r.answered = true
	if r.next != nil {
		r.next.prev = r.prev
	}
	if r.prev == nil {
		n.open = r.next
	} else {
		r.prev.next = r.next
	}
	r.prev, r.next = nil, nil
}

// abandon gives everything up, because the nodes are closed.
func (n *node) abandon() {
	n.mu.Lock()
	var all []*request
	for n.open != nil {
		all = append(all, n.open)
		n.leave(n.open)
	}
	n.waiting, n.closed = nil, true
	n.alarm.Stop()
	n.mu.Unlock()
	for _, r := range all {
		n.tell(r, n.reply(env.Reply{}, errGivenUp))
	}
}

// errGivenUp is the error of a request that was under way when the nodes were closed.
var errGivenUp = errors.New("the nodes have been closed")
