package live

import (
	"context"
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
