package live

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// resource is the guarded resource that all clients share.
type resource struct {
	mu     sync.Mutex
	state  *guard.Guard
	rules  []world.Rules // for accesses, by client, from 0
	record func(history.Event)
}

// serve processes an access. Its effect is recorded before the next access can be
// processed.
func (r *resource) serve(client int, a access) (got accessResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch a.Op {
	case toRead:
		got.Value, got.Accepted = r.state.Read(a.Resource, a.Token, a.Fence)
	case toWrite:
		if got.Accepted = r.state.Write(a.Resource, a.Token, a.Fence, a.Value); got.Accepted {
			r.record(history.Event{
				Kind: history.Apply, Client: client,
				Resource: a.Resource, Token: a.Token, Value: a.Value, Fence: a.Fence,
			})
		}
	case toDraw:
		got.Fence, got.Accepted = r.state.Draw(a.Resource), true
	}
	return got
}

// change changes the rules for a client's accesses.
func (r *resource) change(client int, how func(world.Rules) world.Rules) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rules[client-1] = how(r.rules[client-1])
}

// delay returns how long an access of a client takes to arrive.
func (r *resource) delay(client int) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rules[client-1].Delay(nemesis.Message{Client: client, Way: nemesis.Requests})
}

// access is an access to the resource. Its result is decided when it arrives.
type access struct {
	Op accessOp
	env.Access
	Value int64
}

type accessOp uint8

const (
	toRead accessOp = iota + 1
	toWrite
	toDraw // draw a fence
)

type accessResult struct {
	Value    int64
	Fence    uint64
	Accepted bool
}

// send implements [sender]. An access arrives even if nobody waits for it any more.
func (i localHost) send(ctx context.Context, a access) (accessResult, error) {
	i.gate.pass()
	if err := ctx.Err(); err != nil {
		return accessResult{}, err
	}
	var got accessResult
	var err error
	if delay := i.world.resource.delay(i.number); delay == 0 {
		got = i.world.resource.serve(i.number, a)
	} else {
		got, err = i.sendDelayed(ctx, delay, a)
	}
	i.gate.pass()
	return got, err
}

// sendDelayed is send for an access that takes time to arrive.
func (i localHost) sendDelayed(ctx context.Context, delay time.Duration, a access) (accessResult, error) {
	arrived := make(chan accessResult, 1)
	m := i.tasks.start(i.taskName("access on its way"), func() {
		if got, ok := i.world.deliver(i.number, delay, a); ok {
			arrived <- got
		}
	}, i.fail)
	if m == nil {
		runtime.Goexit() // the run is over
	}
	select {
	case got := <-arrived:
		return got, nil
	case <-ctx.Done():
		return accessResult{}, ctx.Err()
	case <-i.over.Done():
		return accessResult{}, context.Cause(i.over) // the gate ends the goroutine
	}
}

// deliver processes an access after a delay. ok is false if the run ends first.
func (w *World) deliver(client int, delay time.Duration, a access) (got accessResult, ok bool) {
	select {
	case <-time.After(delay):
		return w.resource.serve(client, a), true
	case <-w.over.Done():
		return accessResult{}, false
	}
}

// clientRegister is a client's [env.Register]. The resource may be in another process.
type clientRegister struct{ sender }

// sender sends an access to the resource and waits for the result, or the end of ctx.
type sender interface {
	send(ctx context.Context, a access) (accessResult, error)
}

func (r clientRegister) ask(ctx context.Context, a access) (accessResult, error) {
	got, err := r.send(ctx, a)
	if err == nil && !got.Accepted {
		err = env.ErrFenced
	}
	return got, err
}

// Read implements [env.Register].
func (r clientRegister) Read(ctx context.Context, a env.Access) (int64, error) {
	got, err := r.ask(ctx, access{Op: toRead, Access: a})
	return got.Value, err
}

// Write implements [env.Register].
func (r clientRegister) Write(ctx context.Context, a env.Access, value int64) error {
	_, err := r.ask(ctx, access{Op: toWrite, Access: a, Value: value})
	return err
}

// Fence implements [env.Register].
func (r clientRegister) Fence(ctx context.Context, resource string) (uint64, error) {
	got, err := r.ask(ctx, access{Op: toDraw, Access: env.Access{Resource: resource}})
	return got.Fence, err
}
