package live

import (
	"context"
	"errors"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/world"
)

// unwindPatience is how long the clients' goroutines may take to end after the
// run. Each ends at its next call of a port.
const unwindPatience = 10 * time.Second

// errRunTwice is the error of a second Run.
var errRunTwice = errors.New("a world runs once")

// Run lets every client run main and carries out the plan. It returns when
// all clients have returned or died, when the horizon has come, or when ctx
// ends (with its error), and closes the history with an end event. All
// goroutines of the clients are gone then; those that have not returned are
// unwound from their next call of a port, running their deferred functions.
//
// Any other error says that a fault could not be carried out, that a server
// died which nobody killed, that a client panicked, or that a goroutine does
// not end.
func (w *World) Run(ctx context.Context, main func(client int)) error {
	return w.run(ctx, func() {
		for _, c := range w.clients {
			w.tasks.start(c.named("main"), func() {
				defer w.finish(c.number)
				c.gate.pass()
				main(c.number)
			}, w.fail)
		}
	})
}

// run is a run in which launch sets the clients going.
func (w *World) run(ctx context.Context, launch func()) error {
	if !w.history.begin() {
		return errRunTwice
	}
	if _, err := w.plan.advance(); err != nil { // faults that are there from the start
		return errors.Join(err, w.unwind(world.End(ctx, err)))
	}
	horizon := time.NewTimer(w.setting.Horizon)
	defer horizon.Stop()
	w.tasks.start("probe", func() { w.probe.run(w.over, w.ground.machine) }, w.fail)
	w.tasks.start("nemesis", w.plan.run, w.fail)
	launch()
	var err error
	select {
	case <-w.done:
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

// failure returns what has gone wrong at the same time as the run ended.
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

// unwind ends the history and waits for all goroutines to end. The nodes are closed
// because a client may be waiting for a reply.
func (w *World) unwind(end *history.Event) error {
	w.history.seal(end)
	for _, b := range w.hosts {
		b.leave()
	}
	w.history.settle()
	w.end()
	return errors.Join(w.closeNodes(), w.tasks.wait(unwindPatience))
}
