package runner

import (
	"context"
	"sync/atomic"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// Watcher receives what happens in a run, in order: the events of the history and, between
// them, the requests of clients to nodes and the store, which no history has, and each
// reply at the moment at which the lock receives it. Replies after the lock has stopped
// waiting are missing. If runs are not exact, several clients call it concurrently.
// Clients in processes of their own ([ProcessWorld]) cannot be watched.
type Watcher interface {
	history.Sink

	// Open is called before everything else. clocks is nil if the backend does not provide
	// them.
	Open(h history.Header, clocks ClockReader)

	// Sent reports that the client has sent a command to nodes, Replied that it has
	// received one of the replies. The rounds of all clients are numbered from 1.
	Sent(client, round int, to env.NodeSet, c env.Command)
	Replied(client, round int, r env.Reply)

	// Asked reports that the client has sent a request to the store, Answered that it has
	// received the reply or an error.
	Asked(client, round int, r env.StoreRequest)
	Answered(client, round int, r env.StoreReply, err error)
}

// ClockReader reads the clocks of a world. A [World] with exact runs implements it, for
// watchers only: a client can read only its own clocks.
type ClockReader interface {
	Ground() history.Time
	ClientClock(client int, which env.Clock) env.Instant
	// NodeClock is the wall clock by which the keys of a node expire.
	NodeClock(node int) env.Instant
}

// Watched returns the experiment with a watcher of its runs, which must not go side by
// side. A watcher does not change a run.
func (e Experiment) Watched(w Watcher) Experiment {
	e.watcher = w
	return e
}

// openWatcher tells the watcher that a run begins.
func (e Experiment) openWatcher(world World, h history.Header) {
	if e.watcher == nil {
		return
	}
	clocks, _ := world.(ClockReader)
	e.watcher.Open(h, clocks)
}

// watched wraps the nodes and the store of the ports so that the watcher receives the
// traffic.
func watched(p ports, w Watcher, rounds *atomic.Int64) ports {
	if w == nil {
		return p
	}
	h := clientWatch{w, p.client, rounds}
	p.nodes = watchedNodes{p.nodes, h}
	if p.store != nil {
		p.store = watchedStore{p.store, h}
	}
	return p
}

// clientWatch reports the traffic of one client to the watcher.
type clientWatch struct {
	watcher Watcher
	client  int
	rounds  *atomic.Int64 // of all clients, so far
}

type watchedNodes struct {
	env.Nodes
	clientWatch
}

func (n watchedNodes) Send(to env.NodeSet, command env.Command, giveUp env.Instant) env.Round {
	number := int(n.rounds.Add(1))
	n.watcher.Sent(n.client, number, to, command)
	return watchedRound{n.Nodes.Send(to, command, giveUp), n.clientWatch, number}
}

type watchedRound struct {
	env.Round
	clientWatch
	number int
}

func (r watchedRound) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	reply, err := r.Round.Next(ctx, until)
	if err == nil {
		r.watcher.Replied(r.client, r.number, reply)
	}
	return reply, err
}

type watchedStore struct {
	env.Store
	clientWatch
}

func (s watchedStore) Ask(ctx context.Context, r env.StoreRequest, until env.Instant) (env.StoreReply, error) {
	number := int(s.rounds.Add(1))
	s.watcher.Asked(s.client, number, r)
	reply, err := s.Store.Ask(ctx, r, until)
	s.watcher.Answered(s.client, number, reply, err)
	return reply, err
}
