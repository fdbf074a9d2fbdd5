package redlockotel

import (
	"context"

	"github.com/lockstorm/lockstorm/env"
)

// Nodes returns the nodes for [redlock.New], with a span and a measurement for each
// request. What is asked of them, and what they answer, stays as it is. Close what
// is wrapped yourself.
func (t *Telemetry) Nodes(of env.Nodes) env.Nodes {
	return &nodes{Nodes: of, telemetry: t}
}

type nodes struct {
	env.Nodes
	telemetry *Telemetry
}

// Send implements [env.Nodes].
func (n *nodes) Send(to env.NodeSet, command env.Command, giveUp env.Instant) env.Round {
	r := &round{telemetry: n.telemetry, command: command}
	if one := n.telemetry.find(command.Token); one != nil {
		r.try, r.operation = one, one.asking(command.Op)
	}
	r.sent = n.telemetry.elapsed()
	r.Round = n.Nodes.Send(to, command, giveUp)
	return r
}

type round struct {
	env.Round
	telemetry *Telemetry
	command   env.Command
	try       *try       // nil: nobody's, or of one that is forgotten
	operation *operation // for which it was sent
	sent      env.Instant
	waited    bool
}

// Next implements [env.Round]. The first who waits does so in the context of whoever
// has called the lock.
func (r *round) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	if r.try != nil && !r.waited {
		r.try.mu.Lock()
		r.operation.make(ctx)
		r.try.mu.Unlock()
	}
	r.waited = true
	reply, err := r.Round.Next(ctx, until)
	if err == nil {
		r.heard(&reply)
	}
	return reply, err
}

// heard tells of a request that has been answered, or given up.
func (r *round) heard(reply *env.Reply) {
	now := r.telemetry.elapsed()
	ctx := context.Background()
	if r.try != nil {
		r.try.mu.Lock()
		r.operation.request(r.command, reply, r.sent, now)
		ctx = r.operation.ctx
		r.try.mu.Unlock()
	}
	r.telemetry.instruments.requested(ctx, r.command.Op, reply, now.Sub(r.sent))
}
