package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

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

// SetClock implements [Clocked]: a node has one clock, whichever of the two answers for it.
func (p *pair) SetClock(ahead time.Duration, ppm int64) error {
	return errors.Join(p.OwnServer.SetClock(ahead, ppm), p.replica.SetClock(ahead, ppm))
}

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

// catchUp waits until the replica has every change of the master, whose clients are paused.
func (p *pair) catchUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, followTimeout, fmt.Errorf("waited for %v", followTimeout))
	defer cancel()
	for {
		master, err := p.OwnServer.Do(ctx, "ROLE") // "master", offset, replicas
		if err != nil {
			return err
		}
		replica, err := p.replica.Do(ctx, "ROLE") // "slave", host, port, state, offset
		if err != nil {
			return err
		}
		m, _ := master.([]any)
		r, _ := replica.([]any)
		if len(m) == 3 && len(r) == 5 && m[1] == r[4] {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("redis-server on %s has not all changes of %s: %w", p.replica.Addr(), p.Addr(), context.Cause(ctx))
		case <-time.After(followInterval):
		}
	}
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
