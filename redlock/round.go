package redlock

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// subject is what a round is about.
type subject struct{ resource, token string }

// round is one command on its way to nodes, and the replies so far.
type round struct {
	command env.Command
	about   *subject // nil: what its command names
	replies env.Round
	weigh   func(env.Reply) env.Reply // what a reply counts as; nil: itself
	sent    env.Instant
	votes   tally
	silent  env.NodeSet // asked and not yet heard of
	lost    env.NodeSet // heard of as env.Lost: what the command did is unknown
	failed  env.NodeSet // heard of as env.Failed: it did nothing
}

// send hands a command to the nodes of the set. Their answers are given up
// after wait.
func (m *Mutex) send(to env.NodeSet, command env.Command, wait time.Duration) *round {
	return m.sendWhile(always, to, command, wait)
}

func always() bool { return true }

// sendWhile is send; nodes that are not asked at once are asked only while it is
// wanted.
func (m *Mutex) sendWhile(wanted func() bool, to env.NodeSet, command env.Command, wait time.Duration) *round {
	if !m.config.Sequential || to.Len() == 1 {
		return m.sendAtOnce(to, command, wait)
	}
	r := m.newRound(to, command)
	r.replies = &sequence{mutex: m, command: command, wait: wait, wanted: wanted, rest: to}
	return r
}

// sendAtOnce is send, whatever [Config.Sequential] says.
func (m *Mutex) sendAtOnce(to env.NodeSet, command env.Command, wait time.Duration) *round {
	r := m.newRound(to, command)
	r.replies = m.nodes.Send(to, command, r.sent.Add(wait))
	return r
}

func (m *Mutex) newRound(to env.NodeSet, command env.Command) *round {
	return &round{
		command: command, sent: m.runtime.Now(env.Monotonic),
		votes: tally{quorum: &m.quorum}, silent: to,
	}
}

// next waits for one more reply, and returns it and what it counts as.
func (r *round) next(ctx context.Context, until env.Instant) (reply, vote env.Reply, err error) {
	reply, err = r.replies.Next(ctx, until)
	if err != nil {
		return reply, reply, err
	}
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
	return reply, vote, nil
}

// names returns the resource and the token that the round is about.
func (r *round) names() (resource, token string) {
	if r.about != nil {
		return r.about.resource, r.about.token
	}
	return r.command.Key, r.command.Token
}

// gather counts replies until they decide, the instant until has come
// ([env.ErrTimeout]) or ctx ends, and returns the votes so far. Each reply is a
// step. Afterwards the round may be handed to a background task, and must then
// not be looked at again.
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

// drain hears the rest of a round out. The transport gives up on every node
// some time, so this ends.
func (r *round) drain(each func(env.Reply)) {
	for {
		reply, _, err := r.next(context.Background(), env.Never)
		if err != nil {
			return
		}
		if each != nil {
			each(reply)
		}
	}
}

// drainRest hears the rest of a round out in the background, if there is one.
func (m *Mutex) drainRest(name string, r *round) {
	if r.silent != 0 {
		m.background(name, nil, func() { r.drain(nil) })
	}
}
