package redlockotel

import (
	"cmp"
	"context"

	"github.com/lockstorm/lockstorm/env"
)

// Nodes returns the nodes for [redlock.New], with a span and a measurement for each
// request. Requests and replies do not change. The caller closes the wrapped nodes.
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
	r := &round{telemetry: n.telemetry, command: command, try: one, operation: one.operationFor(command.Op), sent: n.telemetry.elapsed()}
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

// Next implements [env.Round]. The first wait of a round is in the context of the lock's
// caller.
func (r *round) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	if !r.waited {
		r.waited = true
		r.try.mu.Lock()
		r.operation.make(ctx)
		r.try.mu.Unlock()
	}
	reply, err := r.Round.Next(ctx, until)
	if err == nil {
		r.record(&reply)
	}
	return reply, err
}

// record records a request that has a reply, or has expired, unless nobody records
// requests: reading the clock costs more than everything else here.
func (r *round) record(reply *env.Reply) {
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
// unchanged, after its spans have been made. next may be nil.
func (t *Telemetry) Observer(next env.Observer) env.Observer {
	return &observer{t, next}
}

type observer struct {
	telemetry *Telemetry
	next      env.Observer // may be nil
}

// Observe implements [env.Observer].
func (o *observer) Observe(e env.Event) {
	o.telemetry.observe(&e)
	if o.next != nil {
		o.next.Observe(e)
	}
}

func (t *Telemetry) observe(e *env.Event) {
	switch e.Step {
	case env.StepAcquire:
		t.begin(e)
	case env.StepReply, env.StepBeforeSend, env.StepBeforeCheck, env.StepAfterCheck: // the spans of requests show them
	default:
		if one := t.find(e.Token); one != nil {
			one.observe(e)
		}
	}
}
