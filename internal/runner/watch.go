package runner

import (
	"context"
	"sync/atomic"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// Watcher hears what happens in a run, in its order: the events of the history, and
// between them what clients ask of nodes and of the store, which no history tells, with
// each answer at the moment at which the lock takes it. What comes when the lock listens
// no more is not heard. Where runs are not exact, several clients call it at a time. Clients that are
// processes of their own ([ProcessWorld]) nobody can watch.
type Watcher interface {
	history.Sink

	// Open is called before everything else. clocks is nil where the backend does
	// not show them.
	Open(h history.Header, clocks ClockReader)

	// Sent: the client has sent a command to nodes. Replied: it takes one of the
	// replies. The rounds of all clients are numbered from 1.
	Sent(client, round int, to env.NodeSet, c env.Command)
	Replied(client, round int, r env.Reply)

	// Asked: the client has sent a request to the store. Answered: it takes the reply,
	// or learns that none comes.
	Asked(client, round int, r env.StoreRequest)
	Answered(client, round int, r env.StoreReply, err error)
}

// ClockReader are what the clocks of a world show. A [World] whose runs are exact has them,
// for watchers alone: nobody within the world can look at more than his own.
type ClockReader interface {
	Ground() history.Time
	ClientClock(client int, which env.Clock) env.Instant
	// NodeClock is the wall clock by which the keys of a node expire.
	NodeClock(node int) env.Instant
}

// Watched returns the experiment with a watcher, who hears of all its runs: they must
// not go side by side. A run is the same with a watcher as without.
func (e Experiment) Watched(w Watcher) Experiment {
	e.watcher = w
	return e
}

// openWatcher tells the experiment's watcher of a run that begins.
func (e Experiment) openWatcher(world World, h history.Header) {
	if e.watcher == nil {
		return
	}
	clocks, _ := world.(ClockReader)
	e.watcher.Open(h, clocks)
}

// watched returns the ports with nodes and a store whose traffic the watcher hears.
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

// clientWatch is what a watcher hears of one client.
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
