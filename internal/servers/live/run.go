package live

import (
	"context"
	"errors"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/keywatch"
	"github.com/lockstorm/lockstorm/internal/world"
)

// Close stops the servers and releases everything that the world uses. It must not be
// called during Run. A second Close returns the same error.
func (w *World) Close() error {
	w.closing.Do(func() {
		w.end()
		err := w.closeNodes()
		w.network.Close()
		w.err = errors.Join(err, w.fleet.Close())
	})
	return w.err
}

func (w *World) closeNodes() error {
	var errs []error
	for _, c := range w.clients {
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}

// unwindTimeout bounds how long the clients' goroutines may take to end after the run. Each
// ends at its next call of a port. After abandonTimeout their locks are abandoned.
const (
	abandonTimeout = time.Second
	unwindTimeout  = 10 * time.Second
)

// OnAbandon sets the function that is called if after the run a goroutine of a client goes on, because a call of its
// lock has not returned. It is called before Run returns and must not block.
func (w *World) OnAbandon(f func()) { w.abandon = f }

// errRunTwice is the error of a second Run.
var errRunTwice = errors.New("a world runs once")

// Run runs main for every client and carries out the plan. It returns when all clients have
// returned or died, at the horizon, or when ctx ends (with its error), and ends the
// history. By then all goroutines of the clients have ended; those that had not returned
// end at their next call of a port, running their deferred functions.
//
// Any other error means that a fault could not be injected, a server died by itself, a
// client panicked, or a goroutine does not end.
func (w *World) Run(ctx context.Context, main func(client int)) error {
	return w.run(ctx, func() {
		for _, c := range w.clients {
			w.tasks.start(c.taskName("main"), func() {
				defer w.finish(c.number)
				c.gate.pass()
				main(c.number)
			}, w.fail)
		}
	})
}

// run is a run in which launch starts the clients.
func (w *World) run(ctx context.Context, launch func()) error {
	w.watchKeys(ctx)
	if !w.history.begin() {
		return errRunTwice
	}
	if _, err := w.plan.advance(); err != nil { // faults that begin with the run
		return errors.Join(err, w.unwind(world.End(ctx, err)))
	}
	horizon := time.NewTimer(w.setting.Horizon)
	defer horizon.Stop()
	w.tasks.start("probe", func() { w.probe.run(w.over, w.ground.machine) }, w.fail)
	w.tasks.start("nemesis", w.plan.run, w.fail)
	if w.fleet.Watch != nil {
		w.tasks.start("watch", func() { w.fleet.Watch(w.over, entryLog{recorder: w.history}) }, w.fail)
	}
	launch()
	var err error
	select {
	case <-w.done:
		w.lastLook()
	case <-horizon.C:
	case <-ctx.Done():
		err = ctx.Err()
	case err = <-w.broken:
	case err = <-w.fleet.Died:
	}
	if err == nil {
		err = w.failure()
	}
	return errors.Join(err, w.unwind(world.End(ctx, err)))
}

// failure returns an error that occurred at the same time as the end of the run.
func (w *World) failure() error {
	select {
	case err := <-w.broken:
		return err
	case err := <-w.fleet.Died:
		return err
	default:
		return nil
	}
}

// unwind ends the history and waits until all goroutines have ended. Connections are closed
// because a client may be waiting for a reply.
func (w *World) unwind(end *history.Event) error {
	w.history.seal(end)
	for _, b := range w.hosts {
		b.leave()
	}
	w.history.flush()
	w.end()
	err := w.closeNodes()
	if w.abandon != nil && w.tasks.wait(abandonTimeout) != nil {
		w.abandon()
	}
	return errors.Join(err, w.tasks.wait(unwindTimeout))
}

// lastLookTimeout bounds how much longer a run takes because its keys are watched.
const lastLookTimeout = 200 * time.Millisecond

// watchKeys begins to watch the keys of all nodes, and waits until it has begun.
func (w *World) watchKeys(ctx context.Context) {
	if !w.fleet.WatchKeys || w.watches != nil {
		return
	}
	late := time.NewTimer(beginTimeout)
	defer late.Stop()
	for i, server := range w.fleet.Servers {
		n := &nodeWatch{watch: keywatch.New(entryLog{w.history, i + 1}), began: make(chan struct{}), addr: server.Addr()}
		w.watches = append(w.watches, n)
		w.tasks.start("watch of keys", func() { n.run(w.over) }, w.fail)
	}
	for _, n := range w.watches {
		select {
		case <-n.began:
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// lastLook waits until the watches have recorded what has happened up to now, so that the last releases
// are judged. Watches that are suspended, or late, are not waited for.
func (w *World) lastLook() {
	var nodes []int
	for i, n := range w.watches {
		n.mu.Lock()
		if !n.suspended {
			nodes = append(nodes, i+1)
		}
		n.mu.Unlock()
	}
	now := w.ground.shows(env.Monotonic)
	for end := time.Now().Add(lastLookTimeout); !w.history.sawAll(nodes, now) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}
