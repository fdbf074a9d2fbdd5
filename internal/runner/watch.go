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

// NodeWatcher is a [Watcher] that also receives what nodes do, if the backend can tell.
type NodeWatcher interface {
	Watcher

	// Executes reports that a node is about to execute the command of a round. Until it executes
	// another, the changes of its keys that are a client's are the effects of this one.
	Executes(node, round int)

	// Restored reports that a fault has taken a node back to an earlier version of a key, even if only
	// its expiry is another, which no history has. expiry is the last millisecond of the node's clock in
	// which the key exists, ends when that is over, on the ground clock, if the clock runs on as it does;
	// 0: never.
	Restored(node int, key, token string, expiry int64, ends history.Time)

	// Counted reports that a node's counter has changed, which no history has. number is 0 if it is gone.
	Counted(node int, key string, number uint64)
}

// nodeReporter is a world whose nodes a [NodeWatcher] can watch. It numbers the calls of [env.Nodes.Send] of
// all clients from 1.
type nodeReporter interface {
	ReportNodes(executes func(node, round int), restored func(node int, key, token string, expiry int64, ends history.Time), counted func(node int, key string, number uint64))
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
	if w, ok := e.watcher.(NodeWatcher); ok {
		if nodes, ok := world.(nodeReporter); ok {
			nodes.ReportNodes(w.Executes, w.Restored, w.Counted)
		}
	}
}

// traffic counts the requests of one client for the history, and reports them to the watcher.
type traffic struct {
	client  int
	sent    *atomic.Int64 // see [recorder]
	watcher Watcher       // may be nil
	rounds  *atomic.Int64 // of all clients, so far
}

// observed wraps the nodes and the store of the ports.
func (t traffic) observed(p ports) ports {
	p.nodes = observedNodes{p.nodes, t}
	if p.store != nil {
		p.store = observedStore{p.store, t}
	}
	return p
}

type observedNodes struct {
	env.Nodes
	traffic
}

func (n observedNodes) Send(to env.NodeSet, command env.Command, giveUp env.Instant) env.Round {
	n.sent.Add(int64(to.Len()))
	if n.watcher == nil {
		return n.Nodes.Send(to, command, giveUp)
	}
	number := int(n.rounds.Add(1))
	n.watcher.Sent(n.client, number, to, command)
	return watchedRound{n.Nodes.Send(to, command, giveUp), n.traffic, number}
}

type watchedRound struct {
	env.Round
	traffic
	number int
}

func (r watchedRound) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	reply, err := r.Round.Next(ctx, until)
	if err == nil {
		r.watcher.Replied(r.client, r.number, reply)
	}
	return reply, err
}

type observedStore struct {
	env.Store
	traffic
}

func (s observedStore) Ask(ctx context.Context, r env.StoreRequest, until env.Instant) (env.StoreReply, error) {
	s.sent.Add(1)
	if s.watcher == nil {
		return s.Store.Ask(ctx, r, until)
	}
	number := int(s.rounds.Add(1))
	s.watcher.Asked(s.client, number, r)
	reply, err := s.Store.Ask(ctx, r, until)
	s.watcher.Answered(s.client, number, reply, err)
	return reply, err
}
