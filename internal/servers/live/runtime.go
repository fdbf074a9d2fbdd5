package live

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// machine is a client's [env.Runtime].
type machine struct{ *client }

// Now reads one of the client's clocks.
func (m machine) Now(c env.Clock) env.Instant {
	m.gate.pass()
	now := m.clocks.now(c)
	m.gate.pass() // a client can be paused with the time in its hand
	return now
}

// Sleep implements [env.Runtime].
func (m machine) Sleep(ctx context.Context, until env.Instant) error {
	m.gate.pass()
	err := m.clocks.wait(ctx, until, m.sleep)
	if errors.Is(err, errTimeUp) {
		err = nil
	}
	m.gate.pass()
	return err
}

// errTimeUp says that an instant has come that was waited for.
var errTimeUp = errors.New("the time is up")

// sleep waits for an instant of the machine's monotonic clock, or for the end of the run.
func (m machine) sleep(ctx context.Context, until env.Instant) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	timer := time.NewTimer(until.Sub(m.clocks.ground.shows(env.Monotonic)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return errTimeUp
	case <-ctx.Done():
		return ctx.Err()
	case <-m.over.Done():
		return nil
	}
}

// Go implements [env.Runtime].
func (m machine) Go(name string, f func()) env.Task {
	m.gate.pass()
	t := m.tasks.start(m.named(name), func() {
		m.gate.pass()
		f()
	}, m.fail)
	if t == nil {
		runtime.Goexit() // the run is over
	}
	m.gate.pass()
	return task{m, t}
}

// Random draws from the client's stream.
func (m machine) Random(p []byte) { m.random.fill(p) }

// task is a background task of a client.
type task struct {
	machine
	member *member
}

// Wait implements [env.Task].
func (t task) Wait(ctx context.Context) error {
	t.gate.pass()
	var err error
	select {
	case <-t.member.gone:
	case <-ctx.Done():
		err = ctx.Err()
	case <-t.over.Done():
	}
	t.gate.pass()
	return err
}
