package process

import (
	"context"
	"slices"

	"github.com/lockstorm/lockstorm/cluster/live"
	"github.com/lockstorm/lockstorm/cluster/redisserver"
	"github.com/lockstorm/lockstorm/cluster/wire"
	"github.com/lockstorm/lockstorm/nemesis"
)

// pair is a node that can fail over: a master, which is the server that answers, and its
// asynchronous replica. What the master tells the replica takes as long as the setting
// says, over a link of their own.
type pair struct {
	*redisserver.Server // the master
	replica             *redisserver.Server
	stream              *wire.Link // from the replica to the master
}

// newPair returns the pair when the replica is in step.
func newPair(ctx context.Context, master, replica *redisserver.Server, stream *wire.Link) (*pair, error) {
	return &pair{master, replica, stream}, replica.Follow(ctx, stream.Addr())
}

// The numbers of what is imposed on the stream, which no fault of a plan is.
const (
	replicating = iota
	cutting
)

// LoseMaster implements [live.Replicated].
func (p *pair) LoseMaster() error {
	p.stream.Replies.Impose(cutting, nemesis.Silence())
	p.Kill()
	return nil
}

// Promote implements [live.Replicated].
func (p *pair) Promote(ctx context.Context) (live.Replicated, error) {
	return &pair{p.replica, p.Server, p.stream}, p.replica.Lead(ctx)
}

// Rejoin implements [live.Replicated].
func (p *pair) Rejoin(ctx context.Context) error {
	p.stream.Replies.Lift(cutting)
	if err := p.stream.Lead(p.Addr()); err != nil {
		return err
	}
	if err := p.replica.Start(ctx); err != nil {
		return err
	}
	return p.replica.Follow(ctx, p.stream.Addr())
}

// pairs makes pairs of the nodes that the plan lets fail over, out of the servers of all
// nodes and as many more as there are such nodes. The network is that of their streams.
func pairs(ctx context.Context, s nemesis.Setting, seed uint64, servers *redisserver.Fleet) (fleet live.Fleet, err error) {
	fleet = live.FleetOf(servers.Servers()[:s.Nodes], servers.Died(), servers.Close)
	failing := failing(s.Plan)
	if len(failing) == 0 {
		return fleet, nil
	}
	masters := make([]string, len(failing))
	for i, node := range failing {
		masters[i] = servers.Server(node).Addr()
	}
	streams, err := wire.Open(1, masters, "")
	if err != nil {
		return fleet, err
	}
	fleet.Close = func() error { streams.Close(); return servers.Close() }
	lag := (&nemesis.Latency{Add: *s.Replication}).Rule(live.Draws(seed, "replication"))
	for i, node := range failing {
		stream := streams.Link(1, i+1)
		p, err := newPair(ctx, servers.Server(node), servers.Server(s.Nodes+i+1), stream)
		if err != nil {
			return fleet, err
		}
		stream.Replies.Impose(replicating, lag)
		fleet.Servers[node-1] = p
	}
	return fleet, nil
}

// failing are the nodes that a plan lets fail over, each once.
func failing(p nemesis.Plan) (nodes []int) {
	for _, f := range p {
		if over, is := f.Action.(*nemesis.Failover); is && !slices.Contains(nodes, over.Node) {
			nodes = append(nodes, over.Node)
		}
	}
	return nodes
}
