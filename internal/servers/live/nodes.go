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

// Send implements [env.Nodes]. When a request is given up follows from how the client's
// clock runs now: a fault that changes it later does not change that.
func (n nodes) Send(to env.NodeSet, cmd env.Command, giveUp env.Instant) env.Round {
	n.client.gate.pass()
	machine, _ := n.client.clocks.due(env.Monotonic, giveUp)
	r := round{n.client.gate, n.client.clocks, n.client.nodes.Send(to, cmd, machine)}
	n.client.gate.pass()
	return r
}

// round is what a client has of the replies.
type round struct {
	gate    *gate
	clocks  *clocks
	replies env.Round
}

// longAgo is an instant at which a wait is over before it begins.
const longAgo env.Instant = math.MinInt64 / 2

// Next implements [env.Round]. A client that was paused while it waited sees
// the replies that have come since before it sees that its time is up.
func (r round) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	r.gate.pass()
	reply := env.Reply{}
	err := r.clocks.wait(ctx, until, func(ctx context.Context, machine env.Instant) (err error) {
		reply, err = r.replies.Next(ctx, machine)
		return err
	})
	if r.gate.pass() && err != nil {
		if late, none := r.replies.Next(ctx, longAgo); none == nil {
			return late, nil
		}
	}
	return reply, err
}
