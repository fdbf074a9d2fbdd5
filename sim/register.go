package sim

import (
	"context"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// call is one access to the guarded resource: a request, which is decided when
// it arrives, and its answer.
type call struct {
	client   *client
	kind     callKind
	access   env.Access
	value    int64
	fence    uint64
	accepted bool
	returned bool
	deserted bool // nobody waits for the answer any more
	waiter   *coroutine
}

// calls are those under way, in places that are used again.
type calls struct {
	all  []call
	free []int32
}

func (c *calls) hire(request call) int32 {
	if last := len(c.free) - 1; last >= 0 {
		i := c.free[last]
		c.free = c.free[:last]
		c.all[i] = request
		return i
	}
	c.all = append(c.all, request)
	return int32(len(c.all) - 1)
}

func (c *calls) dismiss(i int32) call {
	done := c.all[i]
	c.all[i] = call{}
	c.free = append(c.free, i)
	return done
}

type callKind uint8

const (
	readCall callKind = iota + 1
	writeCall
	drawCall
)

// do sends the call over the network and waits for the answer. The way to the
// resource is not one of the links that faults take hold of.
func (c *client) do(ctx context.Context, request call) (call, error) {
	co := c.enter()
	w := c.world
	request.client = c
	i := w.calls.hire(request)
	w.queue.push(w.now+draw(w.network.random, w.network.latency), callArrives, i)
	for !w.calls.all[i].returned {
		if err := ctx.Err(); err != nil {
			w.calls.all[i].deserted = true
			return call{}, err
		}
		w.calls.all[i].waiter = co
		co.park(ctx, env.Never)
		w.calls.all[i].waiter = nil
	}
	answer := w.calls.dismiss(i)
	if !answer.accepted {
		return answer, env.ErrFenced
	}
	return answer, nil
}

func (w *World) callArrives(i int32) {
	c := &w.calls.all[i]
	a := c.access
	switch c.kind {
	case readCall:
		c.value, c.accepted = w.guard.Read(a.Resource, a.Fence)
	case writeCall:
		c.accepted = w.guard.Write(a.Resource, a.Fence, c.value)
		if c.accepted {
			w.Record(&history.Event{Kind: history.Apply, Client: c.client.id, Resource: a.Resource, Token: a.Token, Value: c.value, Fence: a.Fence})
		}
	case drawCall:
		c.fence, c.accepted = w.guard.Draw(a.Resource), true
	}
	w.queue.push(w.now+draw(w.network.random, w.network.latency), callReturns, i)
}

func (w *World) callReturns(i int32) {
	c := &w.calls.all[i]
	c.returned = true
	switch {
	case c.deserted:
		w.calls.dismiss(i)
	case c.waiter != nil:
		w.wake(c.waiter)
	}
}

// Read implements [env.Register].
func (c *client) Read(ctx context.Context, a env.Access) (int64, error) {
	answer, err := c.do(ctx, call{kind: readCall, access: a})
	return answer.value, err
}

// Write implements [env.Register].
func (c *client) Write(ctx context.Context, a env.Access, value int64) error {
	_, err := c.do(ctx, call{kind: writeCall, access: a, value: value})
	return err
}

// Fence implements [env.Register].
func (c *client) Fence(ctx context.Context, resource string) (uint64, error) {
	answer, err := c.do(ctx, call{kind: drawCall, access: env.Access{Resource: resource}})
	return answer.fence, err
}
