package world

import (
	"context"
	"sync/atomic"
)

// Calls knows which call of its lock each client has under way, so that a fault
// can cancel it. Other than the rest of this package it is safe for concurrent
// use.
type Calls struct {
	planned  []bool // by client, from 0: some fault cancels a call of it
	underWay []atomic.Pointer[context.CancelFunc]
}

// NewCalls returns the calls of a world in which none is under way.
func NewCalls(clients int) *Calls {
	return &Calls{planned: make([]bool, clients), underWay: make([]atomic.Pointer[context.CancelFunc], clients)}
}

// Expect says, before the run, that a fault is going to cancel a call of the
// client.
func (c *Calls) Expect(client int) { c.planned[client-1] = true }

// Begin returns the context for a call of the client that begins now, and what
// to do when it has returned. Where nobody will cancel it the context is that of
// the caller: one that can be cancelled costs something at every step.
func (c *Calls) Begin(ctx context.Context, client int) (calling context.Context, returned func()) {
	if !c.planned[client-1] {
		return ctx, func() {}
	}
	calling, cancel := context.WithCancel(ctx)
	c.underWay[client-1].Store(&cancel)
	return calling, func() {
		c.underWay[client-1].Store(nil)
		cancel()
	}
}

// UnderWay returns what cancels the call that the client has under way, or nil
// if it has none.
func (c *Calls) UnderWay(client int) context.CancelFunc {
	if cancel := c.underWay[client-1].Load(); cancel != nil {
		return *cancel
	}
	return nil
}
