package external

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// Locker is the lock of one client, as locktest.Locker documents it.
type Locker interface {
	Lock(ctx context.Context, resource string) (Hold, error)
}

// Hold is a grant, as locktest.Hold documents it.
type Hold struct {
	Release func(ctx context.Context) error
	Until   time.Time
	Extend  func(ctx context.Context) (until time.Time, err error)
	Lost    <-chan struct{}
	Fence   uint64
	Weight  int
}

// Weight returns how many permits a call of Lock asks for: see locktest.Weight.
func Weight(ctx context.Context) int {
	r, _ := ctx.Value(requestKey{}).(*request)
	if r == nil {
		return 0
	}
	r.read.Store(true)
	return r.weight
}

// request is what a call of Lock asks for.
type request struct {
	weight int         // permits; 0: all
	read   atomic.Bool // the lock has read it
}

type requestKey struct{}

// ErrNotHeld is returned by Release, possibly wrapped, if the lock was not held any more.
var ErrNotHeld = errors.New("the lock is not held any more")

// Adapter makes a [Locker] a [runner.Lock]: it reports each step to the observer. It has to be
// ended and then waited for after the run.
type Adapter struct {
	env.Observer
	client   int // the caller, as the history numbers it
	process  int // the client of whose lock it is one of the callers
	locker   Locker
	runtime  env.Runtime
	clock    clock
	capacity int
	ttl      time.Duration
	patience time.Duration
	usage    *Usage
	tries    int

	over     context.Context // ends after the run
	end      context.CancelFunc
	watchers sync.WaitGroup // goroutines that wait for a loss
}

// NewAdapter returns the lock of a client. Its calls are reported to the usage.
func (c Config) NewAdapter(s runner.ClientEnv, u *Usage, locker Locker) *Adapter {
	m := &Adapter{
		Observer: s.Observer, client: s.Client, process: s.Sharing, runtime: s.Runtime, clock: newClock(s.Runtime), capacity: max(c.Capacity, 1),
		ttl: c.TTL, patience: c.Patience, locker: locker, usage: u,
	}
	m.over, m.end = context.WithCancel(context.Background())
	return m
}

// End ends the holds that are left.
func (m *Adapter) End() { m.end() }

// Wait returns when nothing waits for the loss of a hold any more.
func (m *Adapter) Wait() { m.watchers.Wait() }

// Lock implements [runner.Lock].
func (m *Adapter) Lock(ctx context.Context, resource string) (runner.Hold, error) {
	m.tries++
	resource = nameOf(resource)
	h := &hold{Adapter: m, resource: resource, token: fmt.Sprintf("%d.%d", m.client, m.tries), alone: make(chanMutex, 1)}
	h.life, h.end = context.WithCancel(m.over)
	h.held, h.lose = context.WithCancel(h.life)
	ctxOfHold, cancel := context.WithCancel(h.life)
	wants := &request{weight: m.draw()}
	asked := 0 // all, unless the lock is known to read how many
	if m.usage.readsWeight() {
		asked = wants.weight
	}
	ctxOfHold = context.WithValue(ctxOfHold, requestKey{}, wants)
	m.Observe(env.Event{Step: env.StepAcquire, Resource: resource, Token: h.token, TTL: m.ttl, Weight: asked})
	defer m.usage.calls("Lock", m.client)()
	h.caller = ctx
	context.AfterFunc(ctx, cancel) // the context ends with the round, which is longer than the hold
	timer := time.AfterFunc(m.patience, cancel)
	granted, err := m.locker.Lock(ctxOfHold, resource)
	now := time.Now()
	m.usage.answered(m.process)
	if wants.read.Load() {
		m.usage.showsWeightRead()
		asked = wants.weight
	}
	if err == nil {
		err = m.checkWeight(granted.Weight, asked)
	}
	if timer.Stop(); err != nil {
		h.end()
		m.Observe(env.Event{Step: env.StepRefused, Resource: resource, Token: h.token, Err: err})
		return nil, err
	}
	m.usage.shows(Capabilities{Fences: granted.Fence != 0, Tells: granted.Lost != nil, Endless: granted.Until.IsZero()})
	h.Hold = granted
	until, validity := m.clock.instantOf(granted.Until, now)
	m.Observe(env.Event{Step: env.StepGranted, Resource: resource, Token: h.token, TTL: m.ttl, Until: until, Validity: validity, Fence: granted.Fence, Weight: granted.Weight % m.capacity})
	if granted.Lost != nil {
		m.watchers.Go(h.awaitLoss)
	}
	return h, nil
}

// draw draws how many permits a call asks for: mostly one, sometimes all, as 0, and sometimes any other number.
func (m *Adapter) draw() int {
	if m.capacity == 1 {
		return 0
	}
	var bits [8]byte
	m.runtime.Random(bits[:])
	switch n := binary.LittleEndian.Uint64(bits[:]); n % 5 {
	case 0:
		return 0
	case 1:
		return 1 + int(n/5%uint64(m.capacity-1))
	}
	return 1
}

// checkWeight returns an error if a grant takes permits that there are not, or more than the call asked for.
func (m *Adapter) checkWeight(took, asked int) error {
	switch {
	case took < 0 || took > m.capacity:
		return m.usage.Misused("client %d: Lock has returned a Hold with Weight %d: want 0 to Config.Capacity, which is %d", m.client, took, m.capacity)
	case cmp.Or(took, m.capacity) > cmp.Or(asked, m.capacity):
		return m.usage.Misused("client %d: Lock has returned a Hold with Weight %d, though its caller asked for %d (see locktest.Weight); 0 means all permits", m.client, took, asked)
	}
	return nil
}

// clock converts times of time.Now to the clock by which the run is judged.
type clock struct {
	at      time.Time
	instant env.Instant
}

// newClock reads the clock of the run first: if the machine stalls in between, ends of validity are too early, which
// blames nobody.
func newClock(r env.Runtime) clock {
	instant := r.Now(env.Monotonic)
	return clock{time.Now(), instant}
}

// instantOf converts an end of validity that the lock returned at now, and returns how far
// ahead it was.
func (c clock) instantOf(until, now time.Time) (env.Instant, time.Duration) {
	if until.IsZero() {
		return env.Never, 0
	}
	return c.instant.Add(until.Sub(c.at)), until.Sub(now)
}

// hold makes the user's hold a [runner.Hold].
type hold struct {
	*Adapter
	Hold
	resource, token string

	caller context.Context // the context of the caller
	life   context.Context // ends with the hold; the context passed to the lock may end earlier
	end    context.CancelFunc

	held context.Context // the context of the work, which also ends with the notice of a loss
	lose context.CancelFunc

	alone    chanMutex // held while the loss or the release is reported, and while Until changes
	released bool
}

// chanMutex is a mutex whose waiters do not stop virtual time in a bubble of synctest,
// unlike those of a [sync.Mutex].
type chanMutex chan struct{}

func (b chanMutex) lock()   { b <- struct{}{} }
func (b chanMutex) unlock() { <-b }

// Resource and the methods that follow implement [runner.Hold].
func (h *hold) Resource() string         { return h.resource }
func (h *hold) Token() string            { return h.token }
func (h *hold) Context() context.Context { return h.held }
func (h *hold) Fence() uint64            { return h.Hold.Fence }

// Shared reports whether the hold leaves permits to others.
func (h *hold) Shared() bool { return h.Weight%h.capacity != 0 }

// errValidityOver is the error of Check after the end of validity.
var errValidityOver = errors.New("the end of validity has come")

// Check implements [runner.Hold].
func (h *hold) Check() error {
	if !h.Until.IsZero() && !time.Now().Before(h.Until) {
		return errValidityOver
	}
	return h.held.Err()
}

// claimMargin returns how long before the end of validity a client stops working.
func claimMargin(ttl time.Duration) time.Duration { return ttl / 20 }

// ClaimEnd returns when a client stops working that works no longer than the lock claims, or
// [env.Never] if the lock reports that a hold is over, or gives it no end.
func (h *hold) ClaimEnd() env.Instant {
	end, _ := h.clock.instantOf(h.Until, time.Now())
	if h.Lost != nil || end == env.Never {
		return env.Never
	}
	return end.Add(-claimMargin(h.ttl))
}

// errNoExtension is the error of a hold that cannot be extended.
var errNoExtension = errors.New("the lock cannot extend a hold")

// Extend implements [runner.Hold].
func (h *hold) Extend(ctx context.Context, ttl time.Duration) error {
	return h.ExtendWithin(ctx, ttl, h.patience)
}

// ExtendWithin extends the hold, and cancels the call after a time.
func (h *hold) ExtendWithin(ctx context.Context, ttl, limit time.Duration) error {
	if h.Hold.Extend == nil {
		return errNoExtension
	}
	defer h.usage.calls("Hold.Extend", h.client)()
	asked, _ := h.clock.instantOf(time.Now().Add(ttl), time.Now())
	h.Observe(env.Event{Step: env.StepExtend, Resource: h.resource, Token: h.token, TTL: ttl, Until: asked})
	ctx, stop := context.WithTimeout(ctx, min(limit, h.patience))
	defer stop()
	until, err := h.Hold.Extend(ctx)
	now := time.Now()
	if err != nil {
		h.Observe(env.Event{Step: env.StepExtendFailed, Resource: h.resource, Token: h.token, TTL: ttl, Until: asked, Err: err})
		return err
	}
	h.usage.shows(Capabilities{Endless: until.IsZero()})
	h.alone.lock()
	h.Until = until
	h.alone.unlock()
	e := env.Event{Step: env.StepExtended, Resource: h.resource, Token: h.token, TTL: ttl}
	e.Until, e.Validity = h.clock.instantOf(until, now)
	h.Observe(e)
	return nil
}

// Release implements [runner.Hold].
func (h *hold) Release(ctx context.Context) error {
	defer h.usage.calls("Hold.Release", h.client)()
	h.beginRelease()
	defer h.end()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	timer := time.AfterFunc(h.patience, stop)
	defer timer.Stop()
	gaveUp := h.caller.Err() != nil
	err := h.Hold.Release(ctx)
	said := answer(err)
	if gaveUp && said == env.No {
		said = env.Lost // a lock may end its holds with their context: then it has just done so by itself
	}
	h.Observe(env.Event{Step: env.StepReleased, Resource: h.resource, Token: h.token, Answer: said, Err: err})
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
func (h *hold) beginRelease() {
	h.alone.lock()
	defer h.alone.unlock()
	h.released = true
	h.Observe(env.Event{Step: env.StepBeforeRelease, Resource: h.resource, Token: h.token})
}

// errLost is the error of a hold whose loss the lock has reported.
var errLost = errors.New("the lock has reported the loss")

// awaitLoss waits for the lock's notice of a loss and reports it.
func (h *hold) awaitLoss() {
	select {
	case <-h.Lost:
		h.reportLoss()
	case <-h.life.Done():
	}
}

func (h *hold) reportLoss() {
	h.alone.lock()
	defer h.alone.unlock()
	if !h.released {
		h.Observe(env.Event{Step: env.StepLost, Resource: h.resource, Token: h.token, Err: errLost})
		h.lose()
	}
}
