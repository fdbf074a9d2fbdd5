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

// Observer returns an observer for [redlock.New], which passes every event on to next,
// unchanged and after its spans have been made. next may be nil.
func (t *Telemetry) Observer(next env.Observer) env.Observer {
	return &observer{t, next}
}

type observer struct {
	telemetry *Telemetry
	next      env.Observer // may be nil
}

// Observe implements [env.Observer].
func (o *observer) Observe(e env.Event) {
	o.telemetry.hear(&e)
	if o.next != nil {
		o.next.Observe(e)
	}
}

func (t *Telemetry) hear(e *env.Event) {
	switch e.Step {
	case env.StepAcquire:
		t.begin(e)
	case env.StepReply, env.StepBeforeSend, env.StepBeforeCheck, env.StepAfterCheck: // spans of requests tell as much
	default:
		if one := t.find(e.Token); one != nil {
			one.hear(e)
		}
	}
}
