package world

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/lockstorm/lockstorm/history"
)

// Calls tracks which call of its lock each client has under way, so that a fault
// can cancel it. It is safe for concurrent use.
type Calls struct {
	planned  []bool // by client, from 0: whether the plan cancels a call of the client
	underWay []atomic.Pointer[context.CancelFunc]
}

// NewCalls returns the calls of a world in which no call is under way.
func NewCalls(clients int) *Calls {
	return &Calls{planned: make([]bool, clients), underWay: make([]atomic.Pointer[context.CancelFunc], clients)}
}

// Expect announces, before the run, that a fault will cancel a call of the client.
func (c *Calls) Expect(client int) { c.planned[client-1] = true }

// Begin returns the context for a call of the client that begins now, and a function
// to call when it has returned. If no fault cancels calls of the client, the context
// is the caller's own, since a cancellable one costs time at every step. Calls may be nested: a fault
// cancels the innermost.
func (c *Calls) Begin(ctx context.Context, client int) (calling context.Context, returned func()) {
	if !c.planned[client-1] {
		return ctx, func() {}
	}
	calling, cancel := context.WithCancel(ctx)
	outer := c.underWay[client-1].Swap(&cancel)
	return calling, func() {
		c.underWay[client-1].Store(outer)
		cancel()
	}
}

// UnderWay returns the function that cancels the client's call under way, or nil if
// there is none.
func (c *Calls) UnderWay(client int) context.CancelFunc {
	if cancel := c.underWay[client-1].Load(); cancel != nil {
		return *cancel
	}
	return nil
}

// End returns the event that closes the history of a run under ctx. err says why
// the run was cut short; nil means that it was not. The event's reason is one line.
func End(ctx context.Context, err error) *history.Event {
	e := &history.Event{Kind: history.End}
	if err == nil {
		return e
	}
	e.Reason, _, _ = strings.Cut(err.Error(), "\n")
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		e.Reason = "stopped: " + e.Reason
	}
	return e
}
