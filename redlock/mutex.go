package redlock

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Mutex acquires locks on a set of nodes for one client. It is safe for concurrent use.
type Mutex struct {
	config   Config
	runtime  env.Runtime
	nodes    env.Nodes
	quorum   env.Quorum
	all      env.NodeSet // the nodes that vote
	observer env.Observer
	open     context.Context // ends with Close
	close    context.CancelFunc

	closed  atomic.Bool
	running atomic.Int64 // calls and background tasks, for which Close waits

	mu           sync.Mutex // never held across a wait
	watched      *Hold      // the holds that are watched, in a list
	pending      []pendingDelete
	repeating    bool          // a task sends the pending deletes
	incarnations []incarnation // of the nodes' runs, by node from 0
}

// New returns a mutex over the nodes. In production the runtime is [env.System] and the nodes
// come from package redisnode; neither may be nil. The observer is called at every step, see
// [Logged]; nil means none. The error for an invalid configuration wraps [ErrConfig]. Close the
// mutex before the nodes.
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
	m := &Mutex{config: config, runtime: runtime, nodes: nodes, quorum: quorum, all: quorum.Voters, observer: observer}
	m.open, m.close = context.WithCancel(context.Background())
	if config.Quarantine > 0 {
		m.incarnations = make([]incarnation, n)
	}
	return m, nil
}

// Lock acquires the resource as [Mutex.TryLock] does. After [ErrTaken], [ErrNoQuorum],
// [ErrValidity] or [ErrNoFence] it tries again, after a random delay. It returns the last try's
// error after [Config.Tries] tries, and the errors of ctx and of the last try when ctx ends.
//
// A lock is not re-entrant, not even for one Mutex, and not fair: a client that has waited
// longer has no precedence.
func (m *Mutex) Lock(ctx context.Context, resource string) (*Hold, error) {
	return m.lock(ctx, context.WithoutCancel(ctx), resource)
}

// lock acquires the resource. ctx limits the acquisition, base the hold.
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

// randomDelay returns a new random delay for each try, so that clients that collided once do
// not collide for ever.
func (m *Mutex) randomDelay() time.Duration {
	var bits [8]byte
	m.runtime.Random(bits[:])
	return retryDelay(m.config.RetryMin, m.config.RetryMax, binary.LittleEndian.Uint64(bits[:]))
}

// retryDelay maps 64 random bits to a delay from lo to hi, both included.
func retryDelay(lo, hi time.Duration, random uint64) time.Duration {
	return lo + time.Duration(random%uint64(hi-lo+1))
}

// WithLock acquires the resource as [Mutex.Lock] does, calls work, and releases the resource,
// even if work fails or panics. The context of work ends when ctx ends, when the lock is lost,
// and a margin before its validity ends.
//
// If the acquisition fails, work is not called and its error is returned. Otherwise the errors
// of work and of the release are joined. If the lock was about to expire or lost during work, the
// error is also [ErrExpiring] or [ErrLost], even if work did not notice. After ErrLost, somebody
// else may have held the lock during work; a holder that was warned and went on until then gets
// both.
func (m *Mutex) WithLock(ctx context.Context, resource string, work func(ctx context.Context) error) (err error) {
	hold, err := m.lock(ctx, ctx, resource)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hold.close(ctx)) }()
	return work(hold.Context())
}

// close releases the hold, and reports if it had ended before. The caller's context may have
// ended meanwhile; the release must not end with it.
func (h *Hold) close(ctx context.Context) error {
	var ended error
	if ctx.Err() == nil {
		ended = context.Cause(h.ctx)
	}
	// The release cannot report the end of validity where too few nodes reply.
	if h.Left() <= 0 && !errors.Is(ended, ErrLost) {
		ended = errors.Join(ended, errEnded)
	}
	err := h.Release(context.WithoutCancel(ctx))
	if errors.Is(ended, ErrLost) && errors.Is(err, ErrLost) {
		return ended
	}
	return errors.Join(ended, err)
}

// Holds are several locks that were acquired together.
type Holds struct {
	list []*Hold // in the order of their resources
}

// LockAll acquires all of the resources or none: if one cannot be acquired, it releases the
// others. It acquires them in the order of their names, so that two callers never wait for each
// other. A resource that is named twice is acquired once. The error names the resource.
//
// The validity of the first lock is running while the last is acquired. With many resources or
// much contention, use a long TTL or a watchdog.
func (m *Mutex) LockAll(ctx context.Context, resources ...string) (*Holds, error) {
	return m.lockAll(ctx, context.WithoutCancel(ctx), resources)
}

func (m *Mutex) lockAll(ctx, base context.Context, resources []string) (*Holds, error) {
	if len(resources) == 0 {
		return nil, fmt.Errorf("%w: no resource to lock", ErrConfig)
	}
	h := &Holds{}
	for _, resource := range slices.Compact(slices.Sorted(slices.Values(resources))) {
		// Each hold's context derives from the previous one, so the last context ends
		// when any of the locks ends.
		hold, err := m.lock(ctx, base, resource)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%q: %w", resource, err), ignoreLost(h.Release(context.WithoutCancel(ctx))))
		}
		h.list = append(h.list, hold)
		base = hold.ctx
	}
	if cause := context.Cause(h.Context()); cause != nil {
		return nil, errors.Join(fmt.Errorf("while the others were acquired: %w", cause), ignoreLost(h.Release(context.WithoutCancel(ctx))))
	}
	return h, nil
}

// ignoreLost drops the error of a release whose lock was already lost.
func ignoreLost(err error) error {
	if errors.Is(err, ErrLost) {
		return nil
	}
	return err
}

// Each returns the holds, in the order of their resources.
func (h *Holds) Each() []*Hold { return slices.Clone(h.list) }

// Context returns a context that ends when the first of the holds ends; see [Hold.Context].
func (h *Holds) Context() context.Context { return h.list[len(h.list)-1].ctx }

// Until returns the earliest end of validity; see [Hold.Until].
func (h *Holds) Until() env.Instant {
	until := env.Never
	for _, hold := range h.list {
		until = min(until, hold.Until())
	}
	return until
}

// Extend extends the holds one after another; see [Hold.Extend]. It stops at the first error.
func (h *Holds) Extend(ctx context.Context, ttl time.Duration) error {
	for _, hold := range h.list {
		if err := hold.Extend(ctx, ttl); err != nil {
			return fmt.Errorf("%q: %w", hold.Resource(), err)
		}
	}
	return nil
}

// Release releases all holds, the last acquired first, and joins the errors; see [Hold.Release].
func (h *Holds) Release(ctx context.Context) error {
	var errs []error
	for _, hold := range slices.Backward(h.list) {
		if err := hold.Release(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%q: %w", hold.Resource(), err))
		}
	}
	return errors.Join(errs...)
}

// Close ends the mutex. New calls return [ErrClosed], and the contexts of its holds end with
// that cause. Close waits until all calls and background tasks have ended, or ctx ends. It does
// not wait for a Lock that sleeps between two tries; that returns ErrClosed. It releases no
// lock: holders may still release, and other keys expire. Close the nodes afterwards.
func (m *Mutex) Close(ctx context.Context) error {
	m.closed.Store(true)
	m.close()
	for {
		// All holds have to end before each wait: while a hold is extended again and again
		// there is always another call to wait for.
		for _, h := range m.watchedHolds() {
			_ = h.lose(ErrClosed)
		}
		if m.running.Load() == 0 {
			return nil
		}
		if err := m.runtime.Sleep(ctx, m.runtime.Now(env.Monotonic).Add(closePoll)); err != nil {
			return err
		}
	}
}

// closePoll is how often Close looks whether calls and tasks have ended.
const closePoll = time.Millisecond

// background runs f as a task of the client.
func (m *Mutex) background(name string, f func()) {
	m.running.Add(1)
	m.runtime.Go(name, func() {
		f()
		m.running.Add(-1)
	})
}

// now reads the clock that validity is counted on, [Config.Clock].
func (m *Mutex) now() env.Instant { return m.runtime.Now(m.config.Clock) }

// observe reports a further step of the same operation.
func (m *Mutex) observe(e env.Event, step env.Step) {
	e.Step = step
	m.observer.Observe(e)
}

type silent struct{}

func (silent) Observe(env.Event) {}
