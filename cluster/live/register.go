package live

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// resource is the guarded resource, which all clients share.
type resource struct {
	mu    sync.Mutex
	state *guard.Guard
	ways  []world.Rules // what faults do to the accesses of each client, from 0
}

// serve carries an access out.
func (r *resource) serve(do access) answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return do(r.state)
}

// change has the accesses of a client come under other rules from now on.
func (r *resource) change(client int, how func(world.Rules) world.Rules) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ways[client-1] = how(r.ways[client-1])
}

// delay is how long an access of a client takes on its way.
func (r *resource) delay(client int) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ways[client-1].Delay(nemesis.Message{Client: client, Way: nemesis.Requests})
}

// access is what a client wants of the resource, decided when it arrives.
type access func(*guard.Guard) answer

type answer struct {
	value    int64
	fence    uint64
	accepted bool
}

// register is a client's [env.Register].
type register struct{ client *client }

// send lets an access go its way, and waits for the answer or the end of ctx. What is on
// its way arrives even if nobody waits for it any more.
func (r register) send(ctx context.Context, do access) (answer, error) {
	r.client.gate.pass()
	if err := ctx.Err(); err != nil {
		return answer{}, err
	}
	resource := &r.client.world.resource
	delay := resource.delay(r.client.number)
	if delay == 0 {
		a := resource.serve(do)
		r.client.gate.pass()
		return a.orFenced()
	}
	a, err := r.late(ctx, delay, do)
	r.client.gate.pass()
	if err != nil {
		return answer{}, err
	}
	return a.orFenced()
}

// late is send for an access that takes its time.
func (r register) late(ctx context.Context, delay time.Duration, do access) (answer, error) {
	w := r.client.world
	arrived := make(chan answer, 1)
	m := w.crew.start(r.client.named("access on its way"), func() {
		select {
		case <-time.After(delay):
			arrived <- w.resource.serve(do)
		case <-w.over.Done():
		}
	}, w.fail)
	if m == nil {
		runtime.Goexit() // the run is over
	}
	select {
	case a := <-arrived:
		return a, nil
	case <-ctx.Done():
		return answer{}, ctx.Err()
	case <-w.over.Done():
		return answer{}, context.Cause(w.over) // the gate is the way out
	}
}

func (a answer) orFenced() (answer, error) {
	if !a.accepted {
		return a, env.ErrFenced
	}
	return a, nil
}

// Read implements [env.Register].
func (r register) Read(ctx context.Context, a env.Access) (int64, error) {
	got, err := r.send(ctx, func(g *guard.Guard) (got answer) {
		got.value, got.accepted = g.Read(a.Resource, a.Token, a.Fence)
		return got
	})
	return got.value, err
}

// Write implements [env.Register]. The event that tells of the effect is
// written before another access can come in between.
func (r register) Write(ctx context.Context, a env.Access, value int64) error {
	_, err := r.send(ctx, func(g *guard.Guard) answer {
		accepted := g.Write(a.Resource, a.Token, a.Fence, value)
		if accepted {
			r.client.world.history.ofWorld(history.Event{
				Kind: history.Apply, Client: r.client.number,
				Resource: a.Resource, Token: a.Token, Value: value, Fence: a.Fence,
			})
		}
		return answer{accepted: accepted}
	})
	return err
}

// Fence implements [env.Register].
func (r register) Fence(ctx context.Context, resource string) (uint64, error) {
	got, err := r.send(ctx, func(g *guard.Guard) answer { return answer{fence: g.Draw(resource), accepted: true} })
	return got.fence, err
}
