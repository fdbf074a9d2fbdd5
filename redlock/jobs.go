package redlock

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Close ends the mutex. New calls return [ErrClosed], and the contexts of its holds end with
// that cause. Close waits until all calls and background tasks have ended, or ctx ends. It does
// not wait for a Lock that sleeps between two tries; that returns ErrClosed. It releases no
// lock: holders may still release, and other keys expire. Close the nodes afterwards.
func (m *Mutex) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.close()
	for {
		holds, task, idle := m.underWay()
		if idle {
			return nil
		}
		for _, h := range holds {
			_ = h.lose(ErrClosed)
		}
		if err := m.await(ctx, task); err != nil {
			return err
		}
	}
}

// underWay returns all holds that have to end, and the task of some job. All holds have to end
// before the first wait: while a hold is extended again and again there is always another call
// to wait for.
func (m *Mutex) underWay() (holds []*Hold, task env.Task, idle bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for j := m.jobs.first; j != nil; j = j.next {
		if j.hold != nil {
			holds = append(holds, j.hold)
		}
	}
	if j := m.jobs.first; j != nil {
		return holds, j.task, false
	}
	return nil, nil, true
}

// await waits for a task to end. A call has no task, because it runs on its caller's goroutine,
// and env has no way to wait for that; await then sleeps for a moment.
func (m *Mutex) await(ctx context.Context, task env.Task) error {
	if task != nil {
		return task.Wait(ctx)
	}
	return m.runtime.Sleep(ctx, m.runtime.Now(env.Monotonic).Add(callPoll))
}

// callPoll is how often Close checks whether a call has ended.
const callPoll = time.Millisecond

// begin adds a call to the jobs.
func (m *Mutex) begin() *job {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.jobs.add()
}

// beginTry adds a call to the jobs, unless the mutex is closed.
func (m *Mutex) beginTry() (*job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	return m.jobs.add(), nil
}

// end removes a job.
func (m *Mutex) end(j *job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.jobs.remove(j)
}

// job is a call or a background task that Close waits for.
type job struct {
	task       env.Task // nil for a call, and for a task that is just starting
	hold       *Hold    // the hold whose end ends the job; nil if the job ends by itself
	prev, next *job
}

// jobs is a doubly linked list.
type jobs struct{ first *job }

func (l *jobs) add() *job {
	j := &job{next: l.first}
	if l.first != nil {
		l.first.prev = j
	}
	l.first = j
	return j
}

func (l *jobs) remove(j *job) {
	if j.prev == nil {
		l.first = j.next
	} else {
		j.prev.next = j.next
	}
	if j.next != nil {
		j.next.prev = j.prev
	}
}

// background runs f as a task of the client.
func (m *Mutex) background(name string, hold *Hold, f func()) {
	j := m.begin()
	task := m.runtime.Go(name, func() {
		f()
		m.end(j)
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	j.hold, j.task = hold, task
}
