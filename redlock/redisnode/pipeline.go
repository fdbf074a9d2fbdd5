package redisnode

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/env"
)

// pipeline sends one batch after another over go-redis connections. It answers each request of
// a batch as soon as its reply has been read. Exec returns only after the last reply, so
// waiting for Exec would delay every reply until the slowest one. And when a connection breaks,
// Exec also marks the commands whose replies it has read as failed.
//
// The last request of a batch, usually its only one, is answered when Exec has returned, some
// microseconds after its reply. Otherwise a single client would send its next request while
// this connection is still on its way back to the pool, and would have to wait.
type pipeline struct {
	node  *node
	redis redis.Pipeliner

	// Of the current batch. The slices keep their memory for the next.
	commands []command
	replies  []*redis.Cmd
	queue    []redis.Cmder
	replied  bool  // the node has replied to one of them
	dialErr  error // why no connection could be made; nil: one was made
}

// command is one Redis command of a request. Go-redis calls its SetErr right after it has read
// the reply, before it reads the next one.
type command struct {
	*redis.Cmd
	pipeline *pipeline
	request  *request
	replies  []*redis.Cmd // of the whole request; set on its last command only
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
	c.pipeline.commandEnded(err)
	if c.replies != nil && !c.last {
		c.pipeline.node.complete(c.request, c.replies)
	}
}

// exchange sends a batch over one connection and answers all its requests.
func (p *pipeline) exchange(b batch) {
	ctx, cancel := p.node.batchContext(b.requests)
	defer cancel()
	p.load(ctx, b.requests)
	_, err := p.redis.Exec(ctx)
	if err == nil {
		err = errNoReply
	}
	for i := range p.commands {
		p.commands[i].SetErr(err) // go-redis sets no errors if it fails before it has a connection
	}
	p.node.batchEnded(p, b.probe)
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
	p.replied, p.dialErr = false, nil
	for _, r := range requests {
		for _, args := range r.commands {
			p.commands = append(p.commands, command{Cmd: redis.NewCmd(ctx, args...), pipeline: p, request: r})
			p.replies = append(p.replies, p.commands[len(p.commands)-1].Cmd)
		}
	}
	next := 0
	for _, r := range requests {
		first := next
		next += len(r.commands)
		p.commands[next-1].replies = p.replies[first:next]
	}
	p.commands[next-1].last = true
	for i := range p.commands {
		p.queue = append(p.queue, &p.commands[i])
	}
	_ = p.redis.BatchProcess(ctx, p.queue...) // only appends to a list, cannot fail
}

// commandEnded records the outcome of one command.
func (p *pipeline) commandEnded(err error) {
	switch {
	case p.replied:
	case isDialError(err):
		p.dialErr = err
	case answer(env.Yes, err) != env.Lost:
		p.replied = true
		p.node.closeBreaker()
	}
}
