package redisnode

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/env"
)

// pipeline sends one batch after another over connections of go-redis, and answers each
// request of a batch as soon as its reply has been read. Exec returns only after the last
// reply: whoever waited for it would hold up every reply for the latest one. And when a
// connection breaks, Exec marks the commands whose replies it has read as failed too.
//
// The last request of a batch, which for most is the only one, is answered when Exec has
// returned, some microseconds after its reply. Otherwise a client on its own would send its
// next request while this connection is still being put back, and wait for that.
type pipeline struct {
	node  *node
	redis redis.Pipeliner

	// Of the current batch. The slices keep their memory for the next.
	commands []command
	replies  []*redis.Cmd
	queue    []redis.Cmder
	heard    bool  // the node has replied to one of them
	unsent   error // why no connection could be made; nil: one was
}

// command is one of Redis' commands of a request. It is a [redis.Cmder] because it embeds
// one, and hears of its reply because go-redis calls SetErr with each command right after
// having read its reply, and before it reads the next one.
type command struct {
	*redis.Cmd
	pipeline *pipeline
	request  *request
	replies  []*redis.Cmd // of the whole request; only its last command has them
	last     bool         // of the batch
	done     bool
}

// SetErr implements [redis.Cmder]. Only the first call counts: go-redis calls it a second time
// for the commands that succeeded if the connection breaks before the batch ends.
func (c *command) SetErr(err error) {
	if c.done {
		return
	}
	c.done = true
	c.Cmd.SetErr(err)
	c.pipeline.replied(err)
	if c.replies != nil && !c.last {
		c.pipeline.node.complete(c.request, c.replies)
	}
}

// exchange sends the requests over one connection and answers all of them. A probe is one to a
// node of which nothing is heard.
func (p *pipeline) exchange(requests []*request, probe bool) {
	ctx, cancel := p.node.until(requests)
	defer cancel()
	p.load(ctx, requests)
	_, err := p.redis.Exec(ctx)
	if err == nil {
		err = errNoReply
	}
	for i := range p.commands {
		p.commands[i].SetErr(err) // go-redis says nothing of commands if it fails before it has a connection for them
	}
	p.node.finish(p, probe)
	last := &p.commands[len(p.commands)-1]
	p.node.complete(last.request, last.replies)
	clear(p.commands)
	clear(p.replies)
	clear(p.queue)
}

// errNoReply would be a defect of go-redis.
var errNoReply = errors.New("go-redis read no reply")

// load queues the commands of the requests.
func (p *pipeline) load(ctx context.Context, requests []*request) {
	p.commands, p.replies, p.queue = p.commands[:0], p.replies[:0], p.queue[:0]
	p.heard, p.unsent = false, nil
	for _, r := range requests {
		for _, words := range r.lines {
			p.commands = append(p.commands, command{Cmd: redis.NewCmd(ctx, words...), pipeline: p, request: r})
			p.replies = append(p.replies, p.commands[len(p.commands)-1].Cmd)
		}
	}
	next := 0
	for _, r := range requests {
		first := next
		next += len(r.lines)
		p.commands[next-1].replies = p.replies[first:next]
	}
	p.commands[next-1].last = true
	for i := range p.commands {
		p.queue = append(p.queue, &p.commands[i])
	}
	_ = p.redis.BatchProcess(ctx, p.queue...) // puts them into a list, which cannot fail
}

// replied takes note of what became of one command.
func (p *pipeline) replied(err error) {
	switch {
	case p.heard:
	case unconnected(err):
		p.unsent = err
	case answer(env.Yes, err) != env.Lost:
		p.heard = true
		p.node.heardOf()
	}
}
