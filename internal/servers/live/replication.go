package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/nemesis"
)

// OwnServer is a server that this program runs, which supports most faults.
type OwnServer interface {
	Server
	Syncer
	Restorer
	Stopper
	Commander
	Clocked
}

// pair is a node that can fail over: a master, which clients reach, and its asynchronous
// replica. Replication runs over a link with the setting's latency.
type pair struct {
	OwnServer // the master
	replica   OwnServer
	stream    *wire.Link // from the replica to the master
}

// The numbers of rules on the stream. They are not faults of a plan.
const (
	replicationRule = iota
	disconnectRule
)

// loseMaster kills the master. Changes under way to the replica are lost.
func (p *pair) loseMaster() error {
	p.disconnect()
	p.Kill()
	return nil
}

// disconnect disconnects the replica from the master, which stays up. Changes under way are lost.
func (p *pair) disconnect() { p.stream.Replies.Impose(disconnectRule, nemesis.HoldAll()) }

// promote makes the replica a master with the keys that it has received, and returns what answers for
// the node from now on.
func (p *pair) promote(ctx context.Context) (*pair, error) {
	_, err := p.replica.Do(ctx, "REPLICAOF", "NO", "ONE")
	return &pair{p.replica, p.OwnServer, p.stream}, err
}

// Refuse implements [Refuser], and Rewind [Rewinder], if the master does.
func (p *pair) Refuse(ctx context.Context) error { return p.OwnServer.(Refuser).Refuse(ctx) }

func (p *pair) Rewind(ctx context.Context, then time.Time) error {
	return p.OwnServer.(Rewinder).Rewind(ctx, then)
}

// rejoin starts the previous master again as a replica of this one. No client may reach it as a master
// any more.
func (p *pair) rejoin(ctx context.Context) error {
	if err := p.replica.Start(ctx); err != nil {
		return err
	}
	return p.demote(ctx)
}

// demote makes the previous master, which has stayed up, a replica of this one. Changes that only it has
// are lost. No client may reach it any more.
func (p *pair) demote(ctx context.Context) error {
	p.stream.Replies.Lift(disconnectRule)
	p.stream.Redirect(p.Addr())
	return p.follow(ctx)
}

// followTimeout bounds how long a replica may take to be in sync, and followInterval is the time
// between two checks whether it is.
const (
	followTimeout  = 10 * time.Second
	followInterval = 2 * time.Millisecond
)

// follow makes the replica follow the master and waits until they are in sync.
func (p *pair) follow(ctx context.Context) error {
	host, port, err := net.SplitHostPort(p.stream.Addr())
	if err != nil {
		return err
	}
	if _, err := p.replica.Do(ctx, "REPLICAOF", host, port); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, followTimeout, fmt.Errorf("waited for %v", followTimeout))
	defer cancel()
	for {
		role, err := p.replica.Do(ctx, "ROLE") // "slave", host, port, state, offset
		if err != nil {
			return err
		}
		if fields, ok := role.([]any); ok && len(fields) == 5 && fields[3] == "connected" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("redis-server on %s has not become a replica of %s: %w", p.replica.Addr(), p.Addr(), context.Cause(ctx))
		case <-time.After(followInterval):
		}
	}
}

// OpenRedis opens a world on the servers of a fleet, which are [OwnServer]s for all nodes, followed by
// one for each node that the plan lets fail over: its replica. They reach each other on loopback. See
// [Open] for the rest.
func OpenRedis(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink, fleet Fleet, faults FaultHandlers) (*World, error) {
	if err := fleet.pair(ctx, s, seed); err != nil {
		return nil, errors.Join(err, fleet.Close())
	}
	return Open(s, seed, sink, fleet, faults)
}

// pair pairs the nodes that the plan lets fail over with their replicas.
func (f *Fleet) pair(ctx context.Context, s nemesis.Setting, seed uint64) error {
	failing := s.Plan.NodesThat(nemesis.PromotesReplica)
	if len(failing) == 0 {
		return nil
	}
	masters := make([]string, len(failing))
	for i, node := range failing {
		masters[i] = f.Servers[node-1].Addr()
	}
	streams, err := wire.Open(1, masters)
	if err != nil {
		return err
	}
	closing := f.Close
	f.Close = func() error { streams.Close(); return closing() }
	lag := (&nemesis.Latency{Add: *s.Replication}).Rule(Draws(seed, "replication"))
	for i, node := range failing {
		p := &pair{f.Servers[node-1].(OwnServer), f.Servers[s.Nodes+i].(OwnServer), streams.Link(1, i+1)}
		if err := p.follow(ctx); err != nil {
			return err
		}
		p.stream.Replies.Impose(replicationRule, lag)
		f.Servers[node-1] = p
	}
	f.Servers = f.Servers[:s.Nodes]
	return nil
}
