package live

import (
	"context"
	"net"
	"runtime"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// Runtime returns the client's runtime.
func (w *World) Runtime(client int) env.Runtime { return clientRuntime{w.client(client)} }

// Nodes returns the nodes as the client sees them.
func (w *World) Nodes(client int) env.Nodes { return clientNodes{w.client(client)} }

// Register returns the guarded resource as the client sees it. It is in this process: an
// access takes almost no time, and only guard-latency delays it.
func (w *World) Register(client int) env.Register {
	return clientRegister{localHost{w.client(client), w}}
}

// Store returns the store as the client sees it, or nil if there is none.
func (w *World) Store(client int) env.Store { return storeOf(w.client(client)) }

// Record stamps an event with the ground clock and adds it to the history. It does nothing
// before and after the run, and for a client that is dead.
func (w *World) Record(e history.Event) { w.history.clientEvent(justNow, e) }

// Reach reports that the client takes a step; k is the position of the reply at
// [env.StepReply]. Faults that wait for this step alone have begun or ended when Reach
// returns. A client that they pause or kill stays in Reach.
func (w *World) Reach(client int, step env.Step, k int) {
	c := w.client(client)
	c.gate.pass()
	w.plan.step(client, step, k)
	c.gate.pass()
}

// Watch asks for an event when the client's clock reaches until. It replaces an earlier
// request for the token.
func (w *World) Watch(client int, clock env.Clock, resource, token string, until env.Instant) {
	w.history.watch(justNow, client, watch{clock, resource, token, until})
}

// Unwatch cancels the Watch of a token, unless it has come due.
func (w *World) Unwatch(client int, token string) { w.history.unwatch(justNow, client, token) }

// Call returns the context of a call of the client's lock, and a function to call when it
// has returned. The context also ends with the run: a lock that does not use the ports
// learns of the end only from it.
func (w *World) Call(ctx context.Context, client int) (calling context.Context, returned func()) {
	ctx, cancel := context.WithCancel(ctx)
	withRun := context.AfterFunc(w.over, cancel)
	calling, done := w.calls.Begin(ctx, client)
	return calling, func() {
		done()
		withRun()
		cancel()
	}
}

// Trace returns false: runs cannot be repeated exactly.
func (w *World) Trace() (hash uint64, exact bool) { return 0, false }

// Dial connects a client to a node over its link, for a lock that has its own Redis client.
// While the client is paused the connection blocks reads and writes. It is closed with the
// client or the run.
func (w *World) Dial(ctx context.Context, client, node int) (net.Conn, error) {
	return dialGated(ctx, w.client(client).gate, w.network.Link(client, node).Dial)
}

// localHost runs a client in this process.
type localHost struct {
	*client
	world *World
}

func (i localHost) pause() error        { i.gate.pause(); return nil }
func (i localHost) resume() error       { i.gate.resume(); return nil }
func (i localHost) kill()               { i.gate.kill() }
func (i localHost) clocksChanged()      {} // the client shares them
func (i localHost) draws(stream string) { i.random.become(i.world.seed, stream) }
func (i localHost) leave()              {} // the client leaves through its gate

func (i localHost) cancel(fault int) {
	cancelCall(i.world.calls, i.number, fault, i.world.history.worldEvent)
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

// SchedulingLag returns how late this machine was at most in the run so far: at waking a goroutine
// that only sleeps, and at what the plan had due.
func (w *World) SchedulingLag() time.Duration { return w.probe.max() }
