package live

import (
	"context"
	"sync"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/history"
)

// resource is the guarded resource, which all clients share.
type resource struct {
	mu    sync.Mutex
	state *guard.Guard
}

// register is a client's [env.Register].
type register struct{ client *client }

// access passes the client's gate, and does what it wants unless ctx has ended.
func (r register) access(ctx context.Context, do func(*guard.Guard)) error {
	r.client.gate.pass()
	if err := ctx.Err(); err != nil {
		return err
	}
	resource := &r.client.world.resource
	resource.mu.Lock()
	do(resource.state)
	resource.mu.Unlock()
	r.client.gate.pass()
	return nil
}

// Read implements [env.Register].
func (r register) Read(ctx context.Context, a env.Access) (value int64, err error) {
	accepted := false
	err = r.access(ctx, func(g *guard.Guard) { value, accepted = g.Read(a.Resource, a.Token, a.Fence) })
	return value, verdict(accepted, err)
}

// Write implements [env.Register]. The event that tells of the effect is
// written before another access can come in between.
func (r register) Write(ctx context.Context, a env.Access, value int64) error {
	accepted := false
	err := r.access(ctx, func(g *guard.Guard) {
		if accepted = g.Write(a.Resource, a.Token, a.Fence, value); accepted {
			r.client.world.history.ofWorld(history.Event{
				Kind: history.Apply, Client: r.client.number,
				Resource: a.Resource, Token: a.Token, Value: value, Fence: a.Fence,
			})
		}
	})
	return verdict(accepted, err)
}

// Fence implements [env.Register].
func (r register) Fence(ctx context.Context, resource string) (fence uint64, err error) {
	err = r.access(ctx, func(g *guard.Guard) { fence = g.Draw(resource) })
	return fence, err
}

func verdict(accepted bool, err error) error {
	if err == nil && !accepted {
		return env.ErrFenced
	}
	return err
}
