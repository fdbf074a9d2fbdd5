package redlock

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Close ends the mutex. New calls return [ErrClosed], and the contexts of its holds end with
// that cause. Close waits until all calls and background tasks have ended, or ctx ends. It does
// not wait for a Lock that sleeps between two tries; that returns ErrClosed. It releases no
// lock: holders may still release, and other keys expire. Close the nodes afterwards.
func (m *Mutex) Close(ctx context.Context) error {
	m.jobs.closed.Store(true)
	m.close()
	for {
		// All holds have to end before each wait: while a hold is extended again and again
		// there is always another call to wait for.
		for _, h := range m.watchedHolds() {
			_ = h.lose(ErrClosed)
		}
		if m.jobs.running.Load() == 0 {
			return nil
		}
		if err := m.runtime.Sleep(ctx, m.runtime.Now(env.Monotonic).Add(closePoll)); err != nil {
			return err
		}
	}
}

// closePoll is how often Close looks whether calls and tasks have ended.
const closePoll = time.Millisecond

// jobs are the calls and background tasks for which Close waits.
type jobs struct {
	closed  atomic.Bool
	running atomic.Int64
}

func (j *jobs) begin() { j.running.Add(1) }
func (j *jobs) end()   { j.running.Add(-1) }

// beginTry begins a try, unless the mutex is closed. Close sees the try, or the try sees Close.
func (j *jobs) beginTry() error {
	j.begin()
	if j.closed.Load() {
		j.end()
		return ErrClosed
	}
	return nil
}

// background runs f as a task of the client.
func (m *Mutex) background(name string, f func()) {
	m.jobs.begin()
	m.runtime.Go(name, func() {
		f()
		m.jobs.end()
	})
}
