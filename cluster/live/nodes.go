package live

import (
	"context"
	"math"

	"github.com/lockstorm/lockstorm/env"
)

// nodes is a client's [env.Nodes].
type nodes struct{ client *client }

// Len implements [env.Nodes].
func (n nodes) Len() int { return n.client.nodes.Len() }

// Send implements [env.Nodes].
func (n nodes) Send(to env.NodeSet, cmd env.Command, giveUp env.Instant) env.Round {
	n.client.gate.pass()
	r := round{n.client.gate, n.client.nodes.Send(to, cmd, giveUp)}
	n.client.gate.pass()
	return r
}

// round is what a client has of the replies.
type round struct {
	gate    *gate
	replies env.Round
}

// longAgo is an instant at which a wait is over before it begins.
const longAgo env.Instant = math.MinInt64 / 2

// Next implements [env.Round]. A client that was paused while it waited sees
// the replies that have come since before it sees that its time is up.
func (r round) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	r.gate.pass()
	reply, err := r.replies.Next(ctx, until)
	if r.gate.pass() && err != nil {
		if late, none := r.replies.Next(ctx, longAgo); none == nil {
			return late, nil
		}
	}
	return reply, err
}
