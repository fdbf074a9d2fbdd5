package locktest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// lockAdapter makes the user's lock a [runner.Lock]: it reports each step to the observer.
type lockAdapter struct {
	env.Observer
	client   int
	locker   Locker
	clock    clock
	ttl      time.Duration
	patience time.Duration
	extends  bool // the workload extends holds
	cleanup  *cleanup
	usage    *usage
	tries    int

	over     context.Context // ends after the run
	end      context.CancelFunc
	watchers sync.WaitGroup // goroutines that wait for a loss
}

// build makes one client's lock.
func (c Config) build(s runner.ClientEnv, u *usage, log io.Writer, open func(Env) Locker) (runner.Lock, error) {
	m := &lockAdapter{
		Observer: s.Observer, client: s.Client, clock: newClock(s.Runtime),
		ttl: c.TTL, patience: c.Patience, extends: c.Extend > 0, cleanup: new(cleanup), usage: u,
	}
	m.over, m.end = context.WithCancel(context.Background())
	var err error
	if m.locker, err = callBuild(open, Env{Client: s.Client, Addrs: c.Store.addrs(s.Nodes), TTL: c.TTL, store: c.Store, runnerEnv: s, cleanup: m.cleanup, usage: u, log: log}); err != nil {
		return nil, errors.Join(fmt.Errorf("client %d: %w", s.Client, err), m.Close())
	}
	return m, nil
}

// buildTimeout bounds how long the user's function may take.
const buildTimeout = time.Minute

// callBuild calls the user's function.
func callBuild(build func(Env) Locker, e Env) (Locker, error) {
	var locker Locker // read only after the call has returned
	err := callWithin(buildTimeout, "the function that makes the lock", func() error {
		if locker = build(e); locker == nil {
			return errors.New("the function that makes the lock has returned nil")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return locker, nil
}

// callWithin calls a function of the user on its own goroutine, because it may panic, call
// t.Fatal or never return. All of these are errors.
func callWithin(timeout time.Duration, what string, f func() error) error {
	done := make(chan error, 1)
	go func() {
		err := fmt.Errorf("%s has ended its goroutine, as t.Fatal does", what)
		defer func() {
			switch p := recover().(type) {
			case nil:
			case buildError:
				err = p.error
			default:
				err = fmt.Errorf("%s panics: %v\n%s", what, p, debug.Stack())
			}
			done <- err
		}()
		err = f()
	}()
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return fmt.Errorf("%s has not returned after %v", what, timeout)
	}
}

// Close ends the holds that are left, and then runs the user's cleanup functions.
func (m *lockAdapter) Close() error {
	m.end()
	err := m.cleanup.run(m.client)
	m.watchers.Wait()
	return err
}

// Lock implements [runner.Lock].
func (m *lockAdapter) Lock(ctx context.Context, resource string) (runner.Hold, error) {
	m.tries++
	h := &holdAdapter{lockAdapter: m, resource: resource, token: fmt.Sprintf("%d.%d", m.client, m.tries), alone: make(chanMutex, 1)}
	h.life, h.end = context.WithCancel(m.over)
	h.held, h.lose = context.WithCancel(h.life)
	ctxOfHold, cancel := context.WithCancel(h.life)
	m.Observe(env.Event{Step: env.StepAcquire, Resource: resource, Token: h.token, TTL: m.ttl})
	defer m.usage.calls("Lock", m.client)()
	returned := m.withPatience(ctx, cancel)
	granted, err := m.locker.Lock(ctxOfHold, resource)
	now := time.Now()
	m.usage.answered(m.client)
	if returned(); err == nil {
		err = m.usage.granted(m.client, granted, m.extends)
	}
	if err != nil {
		h.end()
		m.Observe(env.Event{Step: env.StepRefused, Resource: resource, Token: h.token, Err: err})
		return nil, err
	}
	h.Hold = granted
	until, validity := m.clock.instantOf(granted.Until, now)
	m.Observe(env.Event{Step: env.StepGranted, Resource: resource, Token: h.token, TTL: m.ttl, Until: until, Validity: validity, Fence: granted.Fence})
	if granted.Lost != nil {
		m.watchers.Go(h.awaitLoss)
	}
	return h, nil
}

// withPatience calls stop when ctx ends or Config.Patience has passed. The returned
// function cancels that.
func (m *lockAdapter) withPatience(ctx context.Context, stop func()) (returned func()) {
	withCall := context.AfterFunc(ctx, stop)
	timer := time.AfterFunc(m.patience, stop)
	return func() {
		withCall()
		timer.Stop()
	}
}

// clock converts times of time.Now to the clock by which the run is judged.
type clock struct {
	at      time.Time
	instant env.Instant
}

func newClock(r env.Runtime) clock { return clock{time.Now(), r.Now(env.Monotonic)} }

// instantOf converts an end of validity that the lock returned at now, and returns how far
// ahead it was.
func (c clock) instantOf(until, now time.Time) (env.Instant, time.Duration) {
	if until.IsZero() {
		return env.Never, 0
	}
	return c.instant.Add(until.Sub(c.at)), until.Sub(now)
}

// holdAdapter makes the user's hold a [runner.Hold].
type holdAdapter struct {
	*lockAdapter
	Hold
	resource, token string

	life context.Context // ends with the hold; the context passed to the lock may end earlier
	end  context.CancelFunc

	held context.Context // the context of the work, which also ends with the notice of a loss
	lose context.CancelFunc

	alone    chanMutex // held while the loss or the release is reported
	released bool
}

// chanMutex is a mutex whose waiters do not stop virtual time in a bubble of synctest,
// unlike those of a [sync.Mutex].
type chanMutex chan struct{}

func (b chanMutex) lock()   { b <- struct{}{} }
func (b chanMutex) unlock() { <-b }

// Resource and the methods that follow implement [runner.Hold].
func (h *holdAdapter) Resource() string         { return h.resource }
func (h *holdAdapter) Token() string            { return h.token }
func (h *holdAdapter) Context() context.Context { return h.held }
func (h *holdAdapter) Fence() uint64            { return h.Hold.Fence }

// errValidityOver is the error of Check after the end of validity.
var errValidityOver = errors.New("the end of validity has come")

// Check implements [runner.Hold].
func (h *holdAdapter) Check() error {
	if !h.Until.IsZero() && !time.Now().Before(h.Until) {
		return errValidityOver
	}
	return h.held.Err()
}

// Extend implements [runner.Hold].
func (h *holdAdapter) Extend(ctx context.Context, ttl time.Duration) error {
	defer h.usage.calls("Hold.Extend", h.client)()
	asked, _ := h.clock.instantOf(time.Now().Add(ttl), time.Now())
	h.Observe(env.Event{Step: env.StepExtend, Resource: h.resource, Token: h.token, TTL: ttl, Until: asked})
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	returned := h.withPatience(ctx, stop)
	until, err := h.Hold.Extend(ctx)
	now := time.Now()
	returned()
	if err != nil {
		h.Observe(env.Event{Step: env.StepExtendFailed, Resource: h.resource, Token: h.token, TTL: ttl, Until: asked, Err: err})
		return err
	}
	h.usage.extended(until)
	h.Until = until
	e := env.Event{Step: env.StepExtended, Resource: h.resource, Token: h.token, TTL: ttl}
	e.Until, e.Validity = h.clock.instantOf(until, now)
	h.Observe(e)
	return nil
}

// Release implements [runner.Hold].
func (h *holdAdapter) Release(ctx context.Context) error {
	defer h.usage.calls("Hold.Release", h.client)()
	h.beginRelease()
	defer h.end()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	returned := h.withPatience(ctx, stop)
	err := h.Hold.Release(ctx)
	returned()
	h.Observe(env.Event{Step: env.StepReleased, Resource: h.resource, Token: h.token, Answer: answer(err), Err: err})
	return err
}

// answer returns what the error of a release means.
func answer(err error) env.Answer {
	switch {
	case err == nil:
		return env.Yes
	case errors.Is(err, ErrNotHeld):
		return env.No
	}
	return env.Lost
}

// beginRelease reports that the release begins. A notice of loss is ignored from then on.
func (h *holdAdapter) beginRelease() {
	h.alone.lock()
	defer h.alone.unlock()
	h.released = true
	h.Observe(env.Event{Step: env.StepBeforeRelease, Resource: h.resource, Token: h.token})
}

// errLost is the error of a hold whose loss the lock has reported.
var errLost = errors.New("the lock has reported the loss")

// awaitLoss waits for the lock's notice of a loss and reports it.
func (h *holdAdapter) awaitLoss() {
	select {
	case <-h.Lost:
		h.reportLoss()
	case <-h.life.Done():
	}
}

func (h *holdAdapter) reportLoss() {
	h.alone.lock()
	defer h.alone.unlock()
	if !h.released {
		h.Observe(env.Event{Step: env.StepLost, Resource: h.resource, Token: h.token, Err: errLost})
		h.lose()
	}
}
