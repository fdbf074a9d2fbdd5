package redlockotel

import (
	"cmp"
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
	one := cmp.Or(n.telemetry.find(command.Token), n.telemetry.nobody)
	r := &round{telemetry: n.telemetry, command: command, try: one, operation: one.asking(command.Op), sent: n.telemetry.elapsed()}
	r.Round = n.Nodes.Send(to, command, giveUp)
	return r
}

type round struct {
	env.Round
	telemetry *Telemetry
	command   env.Command
	try       *try
	operation *operation // for which it was sent
	sent      env.Instant
	waited    bool
}

// Next implements [env.Round]. The first who waits does so in the context of whoever
// has called the lock.
func (r *round) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	if !r.waited {
		r.waited = true
		r.try.mu.Lock()
		r.operation.make(ctx)
		r.try.mu.Unlock()
	}
	reply, err := r.Round.Next(ctx, until)
	if err == nil {
		r.heard(&reply)
	}
	return reply, err
}

// heard tells of a request that has been answered, or given up, if anybody wants to
// know: to read the clock costs more than all else here.
func (r *round) heard(reply *env.Reply) {
	r.try.mu.Lock()
	defer r.try.mu.Unlock()
	if !r.operation.recorded && !r.telemetry.instruments.request.Enabled(r.operation.ctx) {
		return
	}
	now := r.telemetry.elapsed()
	r.operation.request(r.command, reply, r.sent, now)
	r.telemetry.instruments.requested(r.operation.ctx, r.command.Op, reply, now.Sub(r.sent))
}
