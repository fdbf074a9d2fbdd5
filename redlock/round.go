package redlock

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// subject names the lock that a round is for.
type subject struct{ resource, token string }

// round is one command to several nodes, and the replies so far.
type round struct {
	command env.Command
	about   *subject // the lock, if the command's key and token do not name it
	replies env.Round
	weigh   func(env.Reply) env.Reply // the vote that a reply counts as; nil: the reply itself
	sent    env.Instant
	votes   tally
	silent  env.NodeSet // have not replied yet
	lost    env.NodeSet // replied env.Lost: the effect of the command is unknown
	failed  env.NodeSet // replied env.Failed: the command had no effect

	late  late       // judges replies that come while the round is drained; nil: nobody
	again []deletion // what it has found necessary
}

// send sends a command to the nodes of the set. The transport gives up on replies after wait.
func (m *Mutex) send(to env.NodeSet, command env.Command, wait time.Duration) *round {
	r := &round{}
	r.send(m, to, command, wait)
	return r
}

// send begins a round that is empty.
func (r *round) send(m *Mutex, to env.NodeSet, command env.Command, wait time.Duration) {
	r.command, r.silent, r.votes.quorum = command, to, &m.quorum
	r.sent = m.runtime.Now(env.Monotonic)
	r.replies = m.nodes.Send(to, command, r.sent.Add(wait))
}

// next waits for one more reply, and returns it and the vote that it counts as.
func (r *round) next(ctx context.Context, until env.Instant) (reply, vote env.Reply, err error) {
	reply, err = r.replies.Next(ctx, until)
	if err != nil {
		return reply, reply, err
	}
	return reply, r.count(reply), nil
}

// count counts a reply and returns the vote that it counts as.
func (r *round) count(reply env.Reply) (vote env.Reply) {
	vote = reply
	if r.weigh != nil {
		vote = r.weigh(reply)
	}
	r.votes.count(vote)
	r.silent = r.silent.Without(reply.Node)
	switch reply.Answer {
	case env.Lost:
		r.lost = r.lost.With(reply.Node)
	case env.Failed:
		r.failed = r.failed.With(reply.Node)
	}
	return vote
}

// names returns the resource and the token of the lock that the round is for.
func (r *round) names() (resource, token string) {
	if r.about != nil {
		return r.about.resource, r.about.token
	}
	return r.command.Key, r.command.Token
}

// gather counts replies until they decide, the instant until has come ([env.ErrTimeout]) or ctx
// ends, and returns the votes so far. Each reply is a step. Afterwards the round may be passed
// to a background task, and the caller must not use it any more.
func (m *Mutex) gather(ctx context.Context, r *round, until env.Instant) (tally, error) {
	for k := 1; r.votes.decide() == undecided; k++ {
		_, vote, err := r.next(ctx, until)
		if err != nil {
			return r.votes, err
		}
		resource, token := r.names()
		m.observer.Observe(env.Event{Step: env.StepReply, Op: r.command.Op, Resource: resource, Token: token, Reply: vote, K: k})
	}
	return r.votes, nil
}

// drain waits for the remaining replies of a round. It ends, because the transport replies for
// every node at the request's deadline.
func (r *round) drain() { env.Drain(r.replies, r) }

// Receive implements [env.Receiver].
func (r *round) Receive(reply env.Reply) {
	r.count(reply)
	if r.late != nil && r.late.stays(reply) {
		r.again = append(r.again, r.late.erase(env.SetOf(reply.Node)))
	}
}

// late judges the replies to a round that is drained.
type late interface {
	// stays reports whether the reply says that the key may stay on the node, so that it has
	// to be deleted again.
	stays(reply env.Reply) bool
	erase(from env.NodeSet) deletion
}

// drainRest waits for the remaining replies in the background, if there are any.
func (m *Mutex) drainRest(name string, r *round) {
	if r.silent != 0 {
		m.background(name, r.drain)
	}
}
