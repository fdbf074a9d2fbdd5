package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/env"
)

// storeRequest is one request of a client to the store. It travels as a message to
// the node that the client is connected to, which forwards it to the leader. It waits
// for no other message, whatever the setting's connections are: clients of stores
// keep many requests on one connection at a time.
type storeRequest struct {
	request env.StoreRequest
	client  int
	outcome requestOutcome
	reply   env.StoreReply // once it has been carried out
	message int32          // while the store holds it; otherwise nothing
	woken   bool           // what it waits for has been deleted, and that is being replicated
}

// requestOutcome is the outcome of a store request. It may have to wait in the node until
// it can be sent.
type requestOutcome uint8

const (
	undecided requestOutcome = iota
	answered
	noLeader   // there was no leader, or the node did not reach it: it was not carried out
	leaderLost // the leader was lost before the reply
)

// errAsk is the panic for an unknown store operation.
var errAsk = errors.New("sim: no such operation of a store")

// Ask implements [env.Store].
func (c *client) Ask(ctx context.Context, request env.StoreRequest, until env.Instant) (env.StoreReply, error) {
	c.enter()
	if request.Op < env.StoreOpen || request.Op > env.StoreUpdate {
		panic(fmt.Errorf("%w: %v", errAsk, request.Op))
	}
	if err := ctx.Err(); err != nil {
		return env.StoreReply{}, err
	}
	node := c.nodeOf(&request)
	q := &storeRequest{request: request, client: c.id, message: noMessage}
	r := &round{client: c, giveUp: until, pending: env.SetOf(node)}
	r.replies = r.room[:0]
	c.storeRounds = append(c.storeRounds, r)
	c.sendAlone(r, node, q)
	reply, err := r.Next(ctx, until)
	c.storeRounds = slices.DeleteFunc(c.storeRounds, func(other *round) bool { return other == r })
	if err != nil {
		c.world.withdraw(q)
		c.disconnect(q, node)
		return env.StoreReply{}, err
	}
	return c.conclude(q, reply)
}

// conclude returns the outcome of a request as its client sees it. After every failure the
// client connects to the next node. Only the timeout of a StoreAwait says nothing about
// the node.
func (c *client) conclude(q *storeRequest, reply env.Reply) (env.StoreReply, error) {
	timeout := errors.Is(reply.Err, causes[gaveUp])
	if reply.Err == nil {
		c.note(q, reply.Node)
		return q.reply, nil
	}
	c.world.withdraw(q)
	switch {
	case q.request.Kind != env.SessionLease:
		c.disconnect(q, reply.Node)
	case !timeout || q.request.Op != env.StoreAwait:
		c.connectNext(reply.Node)
	}
	switch {
	case timeout:
		return env.StoreReply{}, env.ErrTimeout
	case reply.Answer == env.Failed:
		return env.StoreReply{}, env.ErrNoLeader
	}
	return env.StoreReply{}, env.ErrStoreLost
}

// connectNext makes the client leave a node for the next one. It has one connection: its
// other requests to that node are lost.
func (c *client) connectNext(from int) {
	if c.connected != from {
		return
	}
	c.connected = from%len(c.world.nodes) + 1
	for _, r := range c.storeRounds {
		r.deliver(from, env.Lost, brokenOff)
	}
}

// handleStoreRequest handles a store request that a node has read from its socket.
func (w *World) handleStoreRequest(n *node, i int32) {
	m := w.network.messages.at(i)
	q := m.storeRequest
	switch {
	case q.outcome != undecided:
		w.sendOutcome(i)
	case q.request.Op == env.StoreClose && q.request.Kind != env.SessionLease: // whatever it answers, it sees the connection end
		w.askBackend(i)
	case n.failing != 0: // it leads and follows as ever, and has no time for clients
		m.answer, m.cause = env.Failed, n.failing
		w.reply(i)
	case q.request.Serializable:
		q.reply, q.outcome = env.StoreReply{Done: true, Entries: w.store.stateOf(n).list(q.request.Key)}, answered
		w.sendOutcome(i)
	case w.store.leader == 0, !w.store.connects(n.id, w.store.leader):
		q.outcome = noLeader
		w.sendOutcome(i)
	case w.node(w.store.leader).frozen:
		q.message = i
		w.store.held, w.store.postponed = append(w.store.held, q), append(w.store.postponed, q)
	case q.request.Kind != env.SessionLease:
		w.askBackend(i)
	default:
		q.message = i
		w.store.held = append(w.store.held, q)
		w.lead(q)
	}
}

// takePostponed returns the messages of the requests that a leader held back while it paused its clients.
func (w *World) takePostponed() (messages []int32) {
	if w.store == nil {
		return nil
	}
	for _, q := range w.store.postponed {
		if q.message != noMessage {
			messages = append(messages, w.dismiss(q))
		}
	}
	w.store.postponed = nil
	return messages
}

// sendOutcome sends the outcome of a request to the client.
func (w *World) sendOutcome(i int32) {
	m := w.network.messages.at(i)
	switch m.storeRequest.outcome {
	case answered:
		m.answer = env.Yes
	case noLeader:
		m.answer, m.cause = env.Failed, leaderless
	case leaderLost:
		m.answer, m.cause = env.Lost, deposed
	}
	w.reply(i)
}

// finish answers a request that the store holds. A node that is busy sends the answer
// later.
func (w *World) finish(q *storeRequest, o requestOutcome) {
	q.outcome = o
	i := w.dismiss(q)
	if n := w.node(int(w.network.messages.at(i).node)); n.busy() {
		w.holdRequest(n, i)
	} else {
		w.sendOutcome(i)
	}
}

// dismiss removes a request from the store, and returns its message.
func (w *World) dismiss(q *storeRequest) int32 {
	w.store.held = slices.DeleteFunc(w.store.held, func(other *storeRequest) bool { return other == q })
	i := q.message
	q.message = noMessage
	return i
}

// withdraw ends a StoreAwait that its client has given up, so that it is not kept for
// ever. That takes no message, because nothing depends on it.
func (w *World) withdraw(q *storeRequest) {
	if q.request.Op != env.StoreAwait {
		return
	}
	q.outcome = leaderLost // if it has still to come
	if q.message != noMessage {
		w.network.messages.take(w.dismiss(q))
	}
}

// breakHeld tells the client of a request that its connection was reset, if the store
// holds the request. q may be nil.
func (w *World) breakHeld(q *storeRequest) {
	if q != nil && q.message != noMessage {
		w.resetConnection(w.dismiss(q))
	}
}

// requeueHeld moves the requests that the store got through a node into that node's
// socket, because its server is down.
func (w *World) requeueHeld(n *node) {
	if w.store == nil {
		return
	}
	for _, q := range slices.Clone(w.store.held) {
		if int(w.network.messages.at(q.message).node) == n.id {
			w.holdRequest(n, w.dismiss(q))
		}
	}
}

// bytes is about the size of a request or its reply in a protocol with numbers of eight
// bytes and counted strings, like ZooKeeper's.
func (q *storeRequest) bytes(asked bool) int64 {
	const head = 16
	if asked {
		return head + 40 + int64(len(q.request.Key)+len(q.request.Value))
	}
	size := int64(head)
	for _, e := range q.reply.Entries {
		size += 24 + int64(len(e.Key)+len(e.Value))
	}
	return size
}
