package locktest

import (
	"context"
	"errors"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// hold is a grant as workloads use it.
type hold struct {
	*mutex
	Hold
	resource, token string

	life context.Context // ends with the hold; that which the lock has can end before, with its call
	end  context.CancelFunc

	held context.Context // that the work has; ends with the news of the loss, too
	lose context.CancelFunc

	alone    baton // held by who tells of the loss, or of the release
	released bool
}

// baton excludes, as a [sync.Mutex] does, goroutines that may stand still while they have it:
// in a bubble of synctest time goes on meanwhile.
type baton chan struct{}

func newBaton() baton { return make(baton, 1) }

func (b baton) take() { b <- struct{}{} }
func (b baton) pass() { <-b }

// Resource implements [runner.Hold], as do the methods that follow.
func (h *hold) Resource() string         { return h.resource }
func (h *hold) Token() string            { return h.token }
func (h *hold) Context() context.Context { return h.held }
func (h *hold) Fence() uint64            { return h.Hold.Fence }

// errOver is what the holder finds who asks whether the lock is still held.
var errOver = errors.New("the end of validity has come")

// Check implements [runner.Hold].
func (h *hold) Check() error {
	if !h.Until.IsZero() && !time.Now().Before(h.Until) {
		return errOver
	}
	return h.held.Err()
}

// Extend implements [runner.Hold].
func (h *hold) Extend(ctx context.Context, ttl time.Duration) error {
	defer h.usage.calls("Hold.Extend", h.client)()
	asked, _ := h.clock.told(time.Now().Add(ttl), time.Now())
	h.Observe(env.Event{Step: env.StepExtend, Resource: h.resource, Token: h.token, TTL: ttl, Until: asked})
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	returned := h.bounded(ctx, stop)
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
	e.Until, e.Validity = h.clock.told(until, now)
	h.Observe(e)
	return nil
}

// Release implements [runner.Hold].
func (h *hold) Release(ctx context.Context) error {
	defer h.usage.calls("Hold.Release", h.client)()
	h.releasing()
	defer h.end()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	returned := h.bounded(ctx, stop)
	err := h.Hold.Release(ctx)
	returned()
	h.Observe(env.Event{Step: env.StepReleased, Resource: h.resource, Token: h.token, Answer: answer(err), Err: err})
	return err
}

// answer is what the error of a release says.
func answer(err error) env.Answer {
	switch {
	case err == nil:
		return env.Yes
	case errors.Is(err, ErrNotHeld):
		return env.No
	}
	return env.Lost
}

// releasing tells that the release begins: whatever the lock says of a loss from now on is of
// no use to anybody.
func (h *hold) releasing() {
	h.alone.take()
	defer h.alone.pass()
	h.released = true
	h.Observe(env.Event{Step: env.StepBeforeRelease, Resource: h.resource, Token: h.token})
}

// errLost is why a hold is lost: the lock has said so.
var errLost = errors.New("the lock has told its holder so")

// awaitLoss tells of the loss as soon as the lock does.
func (h *hold) awaitLoss() {
	select {
	case <-h.Lost:
		h.tellLoss()
	case <-h.life.Done():
	}
}

func (h *hold) tellLoss() {
	h.alone.take()
	defer h.alone.pass()
	if !h.released {
		h.Observe(env.Event{Step: env.StepLost, Resource: h.resource, Token: h.token, Err: errLost})
		h.lose()
	}
}
