package sim

import (
	"context"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// call is one access to the guarded resource: a request, which is decided when it arrives,
// and its reply.
type call struct {
	client    *client
	kind      callKind
	access    env.Access
	value     int64
	fence     uint64
	accepted  bool
	returned  bool
	abandoned bool // the client has given up waiting
	waiter    *coroutine
}

type callKind uint8

const (
	readCall callKind = iota + 1
	writeCall
	drawCall
)

// do sends the call over the network and waits for the reply. The path to the resource is
// not one of the links between clients and nodes.
func (c *client) do(ctx context.Context, request call) (call, error) {
	co := c.enter()
	w := c.world
	request.client = c
	i := w.calls.put(request)
	way := &w.network.toGuard[c.id-1]
	takes := w.takes(way) + int64(way.rules.Delay(nemesis.Message{Client: c.id, Way: nemesis.Requests}))
	w.queue.push(w.now+takes, callArrives, i)
	for !w.calls.at(i).returned {
		if err := ctx.Err(); err != nil {
			w.calls.at(i).abandoned = true
			return call{}, err
		}
		w.calls.at(i).waiter = co
		co.park(ctx, env.Never, awaitsRegister)
		w.calls.at(i).waiter = nil
	}
	answer := w.calls.take(i)
	c.observe(uint64(answer.value), answer.fence<<1|flags(answer.accepted))
	if !answer.accepted {
		return answer, env.ErrFenced
	}
	return answer, nil
}

func (w *World) callArrives(i int32) {
	c := w.calls.at(i)
	a := c.access
	switch c.kind {
	case readCall:
		c.value, c.accepted = w.guard.Read(a.Resource, a.Token, a.Fence)
	case writeCall:
		c.accepted = w.guard.Write(a.Resource, a.Token, a.Fence, c.value)
		if c.accepted {
			w.injector.Record(history.Event{Kind: history.Apply, Client: c.client.id, Resource: a.Resource, Token: a.Token, Value: c.value, Fence: a.Fence})
		}
	case drawCall:
		c.fence, c.accepted = w.guard.Draw(a.Resource), true
	}
	if w.few != nil {
		w.few.guarded.mix(c.digest())
	}
	w.queue.push(w.now+w.takes(&w.network.fromGuard), callReturns, i)
}

func (w *World) callReturns(i int32) {
	c := w.calls.at(i)
	if c.client.stopped() && c.client.deferred.deferIfActive(func() { w.callReturns(i) }) {
		return
	}
	c.returned = true
	switch {
	case c.abandoned:
		w.calls.take(i)
	case c.waiter != nil:
		w.wake(c.waiter.activity)
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

func (c *call) digest() (d digest) {
	d.add(uint64(c.client.id)<<32 | uint64(c.kind)<<8 | flags(c.accepted, c.returned, c.abandoned))
	d.add(text(c.access.Resource))
	d.add(text(c.access.Token))
	d.add(c.access.Fence)
	d.add(uint64(c.value))
	d.add(c.fence)
	return d
}
