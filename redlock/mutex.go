package redlock

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Mutex acquires locks on a set of nodes for one client. It may be used
// concurrently.
type Mutex struct {
	config   Config
	runtime  env.Runtime
	nodes    env.Nodes
	quorum   env.Quorum
	all      env.NodeSet // that vote
	observer env.Observer
	patience time.Duration   // with one round of all nodes
	open     context.Context // ends with Close
	close    context.CancelFunc

	mu             sync.Mutex // never held across a wait
	closed         bool
	jobs           jobs
	pendingDeletes pendingDeletes
	incarnations   []incarnation // of the nodes' runs, by node from 0
}

// New returns a mutex over the nodes. In production the runtime is [env.System]
// and the nodes are those of package redisnode; neither may be nil. The observer
// hears of every step, see [Logged]; nil means none. An impossible configuration
// is an [ErrConfig]. Close the mutex before the nodes.
func New(config Config, runtime env.Runtime, nodes env.Nodes, observer env.Observer) (*Mutex, error) {
	n := nodes.Len()
	if n < 1 || n > env.MaxNodes {
		return nil, fmt.Errorf("%w: %d nodes: want 1 to %d", ErrConfig, n, env.MaxNodes)
	}
	if err := config.Validate(); err != nil {
		return nil, err
	}
	if err := config.Quorum.Validate(n); err != nil {
		return nil, fmt.Errorf("%w: quorum: %w", ErrConfig, err)
	}
	quorum := config.Quorum.Among(n)
	config.Linger = max(config.Linger, config.NodeTimeout)
	if observer == nil {
		observer = silent{}
	}
	m := &Mutex{config: config, runtime: runtime, nodes: nodes, quorum: quorum, all: quorum.Voters, observer: observer, patience: config.NodeTimeout}
	m.open, m.close = context.WithCancel(context.Background())
	if config.Sequential {
		m.patience *= time.Duration(quorum.Voters.Len())
	}
	if config.Quarantine > 0 {
		m.incarnations = make([]incarnation, n)
	}
	return m, nil
}

type silent struct{}

func (silent) Observe(env.Event) {}

// Lock acquires the resource as [Mutex.TryLock] does, and tries again after a
// random delay while it is taken, no quorum answers, the validity is over or there
// is no fence ([ErrTaken], [ErrNoQuorum], [ErrValidity], [ErrNoFence]). It gives
// up with the last try's error after [Config.Tries], and when ctx ends, with its
// error and the last try's.
//
// A lock is not re-entrant, not even for one Mutex, and not fair: who has waited
// longest has no precedence.
func (m *Mutex) Lock(ctx context.Context, resource string) (*Hold, error) {
	return m.lock(ctx, context.WithoutCancel(ctx), resource)
}

// lock acquires the resource. ctx limits that, and base the hold.
func (m *Mutex) lock(ctx, base context.Context, resource string) (*Hold, error) {
	for try := 1; ; try++ {
		hold, err := m.tryLock(ctx, base, resource)
		if err == nil || !retryable(err) || try == m.config.Tries {
			return hold, err
		}
		if ended := m.runtime.Sleep(ctx, m.runtime.Now(env.Monotonic).Add(m.randomDelay())); ended != nil {
			return nil, fmt.Errorf("%w; the last try: %w", ended, err)
		}
	}
}

func retryable(err error) bool {
	return errors.Is(err, ErrTaken) || errors.Is(err, ErrNoQuorum) || errors.Is(err, ErrValidity) || errors.Is(err, ErrNoFence)
}

// randomDelay is drawn anew for each try, so that clients that collided once
// do not collide for ever.
func (m *Mutex) randomDelay() time.Duration {
	var bits [8]byte
	m.runtime.Random(bits[:])
	return retryDelay(m.config.RetryMin, m.config.RetryMax, binary.LittleEndian.Uint64(bits[:]))
}

// Close refuses further work, tells holders of this mutex that their locks are
// lost ([ErrClosed] is the cause), and waits for what is under way: calls of
// others and work in the background; or until ctx ends. It does not wait for a Lock
// that sleeps between two tries, which then returns [ErrClosed]. It releases no lock: the
// keys of unreleased holds expire, unless their holders release them still. Close
// the nodes after it.
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

// underWay returns the holds that have to end, and the task of some job that is under way.
// They are all holds, and not that of one job: while a hold is extended again and again there
// is always a call that is younger, and whoever waited for that first would wait for ever.
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

// await waits for a task to end, or for a while if there is none: a call runs
// on its caller's goroutine, for which env has no way to wait.
func (m *Mutex) await(ctx context.Context, task env.Task) error {
	if task != nil {
		return task.Wait(ctx)
	}
	return m.runtime.Sleep(ctx, m.runtime.Now(env.Monotonic).Add(callPoll))
}

// callPoll is how often Close looks whether a call is over.
const callPoll = time.Millisecond

// begin enters a call into the list of what is under way.
func (m *Mutex) begin() *job {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.jobs.add()
}

// beginTry is begin, unless the mutex is closed.
func (m *Mutex) beginTry() (*job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	return m.jobs.add(), nil
}

// end takes a job out of that list.
func (m *Mutex) end(j *job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.jobs.remove(j)
}

// job is something under way that Close waits for.
type job struct {
	task       env.Task // nil: a call, or not known yet
	hold       *Hold    // whose end ends the job; nil if the job ends by itself
	prev, next *job
}

// jobs is a list of what is under way.
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

// WithLock acquires the resource as [Mutex.Lock] does, calls work, and releases
// the resource, whatever becomes of work. The context of work ends when ctx does,
// when the lock is lost, and a margin before its validity ends.
//
// The error is that of acquiring, and then work was not called; or those of
// work and of the release, joined. If the lock was lost while work went on, or
// its validity was about to end, the error is also [ErrLost] or [ErrExpiring],
// even if work has not noticed.
func (m *Mutex) WithLock(ctx context.Context, resource string, work func(ctx context.Context) error) (err error) {
	hold, err := m.lock(ctx, ctx, resource)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hold.close(ctx)) }()
	return work(hold.Context())
}

// close releases the hold, and says if it had ended before. Whoever acquired it
// may have been cancelled meanwhile; the release must not be.
func (h *Hold) close(ctx context.Context) error {
	var ended error
	if h.ctx.Err() != nil && ctx.Err() == nil {
		ended = context.Cause(h.ctx)
	}
	err := h.Release(context.WithoutCancel(ctx))
	if errors.Is(err, ErrLost) && ended != nil {
		return ended
	}
	return errors.Join(ended, err)
}
