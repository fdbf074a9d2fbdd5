package redisnode_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// punctual are nodes that find fault with a caller who would wait for longer
// than the node timeout. What goes on in the background hears everything out,
// and sets itself no time.
type punctual struct {
	env.Nodes
	t       *testing.T
	timeout time.Duration
}

func (p punctual) Send(to env.NodeSet, c env.Command, giveUp env.Instant) env.Round {
	last := env.System().Now(env.Monotonic).Add(p.timeout) // the caller has worked it out earlier
	return punctualRound{p.Nodes.Send(to, c, giveUp), p.t, last}
}

type punctualRound struct {
	env.Round
	t    *testing.T
	last env.Instant
}

func (r punctualRound) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	if until != env.Never && until > r.last {
		r.t.Errorf("a caller would wait for %v longer than the node timeout", until.Sub(r.last))
	}
	return r.Round.Next(ctx, until)
}
