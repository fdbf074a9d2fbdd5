package redlock

import (
	"context"
	"errors"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Hold is a granted lock. It is safe for concurrent use.
type Hold struct {
	attempt *attempt
	fence   uint64
	ctx     context.Context
	end     context.CancelCauseFunc

	// Guarded by the mutex's mu.
	before, after *Hold // in the mutex's list of watched holds
	state         holdState
	until         env.Instant
	extending     bool // an extension is under way: the warning waits for its outcome
	asking        bool // a call of Extend has not returned yet
}

// Resource returns the locked resource.
func (h *Hold) Resource() string { return h.attempt.resource }

// Token returns the value of the lock's keys. It is a secret: whoever knows it and reaches the
// nodes can release the lock.
func (h *Hold) Token() string { return h.attempt.token }

// Fence returns the number that was drawn with the grant, higher than those of all earlier holds;
// see [Config.Fence], without which it is 0. To be safe from a holder that goes on past its
// validity, the resource must receive the fence with every read and write, and reject every
// fence that is lower than the highest it has seen.
func (h *Hold) Fence() uint64 { return h.fence }

// Left returns the remaining validity on the lock's clock. Zero or less means that it has ended.
func (h *Hold) Left() time.Duration { return h.Until().Sub(h.attempt.mutex.now()) }

// Until returns the end of validity on the lock's clock, [Config.Clock], whose origin is
// arbitrary; see [Hold.Left].
func (h *Hold) Until() env.Instant {
	h.attempt.mutex.mu.Lock()
	defer h.attempt.mutex.mu.Unlock()
	return h.until
}

// Context returns a context that ends when the lock is lost or released, and at the latest
// [Config.Margin] before the end of validity; an extension that is under way then may use up the
// margin. context.Cause returns [ErrLost], [ErrReleased], [ErrExpiring] or [ErrClosed]. The
// context ends only while the client runs: a paused client finds it ended when it wakes up, if
// it checks. With [env.Boottime] a suspension is noticed within a sixteenth of the TTL after the
// machine wakes up; [Hold.Check] notices it at once.
func (h *Hold) Context() context.Context { return h.ctx }

// Check reads the clock and returns nil if the lock is held and more validity than the margin is
// left; otherwise [ErrLost], [ErrExpiring] or [ErrReleased]. A check before each effect shortens
// the time in which a client that was paused goes on without the lock. Only a fence ends it,
// because a client can be paused between the check and the effect.
func (h *Hold) Check() error {
	m := h.attempt.mutex
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case h.state == released || h.state == gone:
		return h.state.ended()
	case now >= h.until:
		return errEnded
	case h.state == warned:
		return ErrExpiring
	case now >= h.until.Add(-m.config.Margin):
		return ErrExpiring
	}
	return nil
}

// Extend extends the lock to ttl from now. It never shortens the validity and never creates a
// key. If it fails, the old end of validity stays, unless so many nodes no longer hold the key
// that no quorum is possible: then the lock is lost. ttl is in whole milliseconds and more than
// its [Allowance]. Without [Config.NativeCommands] it may be longer than [Config.TTL]; then it
// counts as the longest TTL in the promise of the package. The error is [ErrConfig], [ErrLost], [ErrExpiring] (the holder has been
// warned, which is final), [ErrReleased], [ErrNoQuorum], [ErrExtending] or the error of ctx.
func (h *Hold) Extend(ctx context.Context, ttl time.Duration) error {
	m, a := h.attempt.mutex, h.attempt
	if err := m.config.validateTTL(ttl); err != nil {
		return err
	}
	m.running.Add(1)
	defer m.running.Add(-1)
	old, err := h.beginExtend()
	if err != nil {
		return err
	}
	defer h.endExtend()
	// Nodes never shorten the life of a key, so an extension does not either.
	until := max(old, validUntil(m.now(), ttl, m.config.allowance(ttl)))
	event := env.Event{Step: env.StepExtend, Resource: a.resource, Token: a.token, TTL: ttl, Until: until}
	m.observer.Observe(event)
	event.Validity, event.Err = h.extend(ctx, ttl, old, until)
	if event.Err != nil {
		m.observe(event, env.StepExtendFailed)
		return event.Err
	}
	m.observe(event, env.StepExtended)
	return nil
}

type holdState uint8

const (
	held     holdState = iota + 1
	warned             // the holder was warned that the validity is about to end
	gone               // the holder was informed that the lock is lost
	released           // by the holder
)

// ended returns the error of an operation on a hold that has ended.
func (s holdState) ended() error {
	switch s {
	case warned:
		return ErrExpiring
	case released:
		return ErrReleased
	}
	return ErrLost
}

// newHold returns a hold whose context derives from base.
func newHold(base context.Context, a *attempt, until env.Instant, fence uint64) *Hold {
	ctx, end := context.WithCancelCause(base)
	return &Hold{attempt: a, fence: fence, ctx: ctx, end: end, state: held, until: until}
}

// beginExtend allows one extension at a time, so that no reply counts for another extension than
// its own.
func (h *Hold) beginExtend() (until env.Instant, err error) {
	h.attempt.mutex.mu.Lock()
	defer h.attempt.mutex.mu.Unlock()
	switch {
	case h.state != held:
		return 0, h.state.ended()
	case h.asking:
		return 0, ErrExtending
	}
	h.extending, h.asking = true, true
	return h.until, nil
}

// endExtend allows the next extension, after the observer has seen this one. An observer that
// pauses the client must not see another extension begin meanwhile.
func (h *Hold) endExtend() {
	h.attempt.mutex.mu.Lock()
	defer h.attempt.mutex.mu.Unlock()
	h.asking = false
}

// extend asks the nodes to keep the keys for ttl. If a quorum agrees while the validity lasts, which
// ends at old, it becomes until. It returns the remaining validity.
func (h *Hold) extend(ctx context.Context, ttl time.Duration, old, until env.Instant) (time.Duration, error) {
	m, a := h.attempt.mutex, h.attempt
	// Replies count only within the present validity. A later reply may be about a key
	// that expired and was acquired by somebody else.
	wait := min(m.config.NodeTimeout, old.Sub(m.now()))
	if wait <= 0 {
		return 0, h.finishExtend(until, errEnded)
	}
	a.noteTTL(ttl)
	r := a.send(m.all, env.Command{
		Op: env.OpExtend, Key: a.resource, Token: a.token, TTL: ttl, Vouched: m.config.Quarantine,
		Native: m.config.NativeCommands && ttl == m.config.TTL, // the longest of all requests for this token
	}, wait)
	if m.config.Quarantine > 0 {
		r.weigh = a.weighExtension
	}
	err := r.gather(ctx, r.sent.Add(wait), ErrLost)
	r.drainRest("drain extension")
	now := m.now()
	if now >= old {
		err = errEnded
	}
	if err := h.finishExtend(until, err); err != nil {
		return 0, err
	}
	return until.Sub(now), nil
}

// finishExtend ends an extension. It sets the new end of validity if the extension was granted
// and the hold has not ended meanwhile, reports a loss, or gives the warning that the extension
// had delayed. It returns the error of the extension.
func (h *Hold) finishExtend(until env.Instant, outcome error) error {
	m := h.attempt.mutex
	now := m.now()
	m.mu.Lock()
	h.extending = false
	state := h.state
	if state == held && outcome == nil {
		h.until = until
	}
	late := now >= h.until.Add(-m.config.Margin)
	m.mu.Unlock()
	switch {
	case state != held:
		return state.ended()
	case errors.Is(outcome, ErrLost):
		return h.lose(outcome)
	case late:
		h.warn()
	}
	return outcome
}

// startWatch starts the watch of a new hold.
func (h *Hold) startWatch() {
	m := h.attempt.mutex
	m.mu.Lock()
	if h.after = m.watched; h.after != nil {
		h.after.before = h
	}
	m.watched = h
	m.mu.Unlock()
	m.background("watch", h.watchToEnd)
}

func (h *Hold) watchToEnd() {
	h.watch()
	m := h.attempt.mutex
	m.mu.Lock()
	defer m.mu.Unlock()
	if h.after != nil {
		h.after.before = h.before
	}
	if h.before != nil {
		h.before.after = h.after
	} else {
		m.watched = h.after
	}
}

// watchedHolds returns the holds whose watch has not ended.
func (m *Mutex) watchedHolds() (all []*Hold) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for h := m.watched; h != nil; h = h.after {
		all = append(all, h)
	}
	return all
}

// watch warns the holder before the validity ends. With a watchdog it extends the hold until then.
func (h *Hold) watch() {
	m := h.attempt.mutex
	renewal, renewals := env.Never, 0 // when the watchdog extends next, on the lock's clock
	if every := m.config.Watchdog.Every; every > 0 {
		renewal = m.now().Add(every)
	}
	for warning := h.Until().Add(-m.config.Margin); ; {
		if m.sleepUntil(h.ctx, min(warning, renewal)) != nil {
			return
		}
		if m.now() >= renewal {
			renewal = h.renew(&renewals)
		}
		var due bool
		if warning, due = h.nextWarning(); due {
			h.warn()
			return
		}
	}
}

// renew extends the hold to a full TTL and returns when to do so next. Extend has reported a loss
// or the end of validity to the holder. If no quorum replied, the next try comes soon.
func (h *Hold) renew(renewals *int) (next env.Instant) {
	m, w := h.attempt.mutex, h.attempt.mutex.config.Watchdog
	err := h.Extend(h.ctx, m.config.TTL)
	switch {
	case errors.Is(err, ErrNoQuorum), errors.Is(err, ErrExtending):
		return m.now().Add(min(w.Every/4, m.config.NodeTimeout))
	case err == nil:
		*renewals++
	}
	if w.Limit > 0 && *renewals == w.Limit {
		return env.Never
	}
	return m.now().Add(w.Every)
}

// nextWarning returns when to warn the holder, or that the warning is due now. While an extension
// is under way the warning waits for its outcome, but not past the end of validity. If the
// extension fails, [Hold.finishExtend] warns.
func (h *Hold) nextWarning() (at env.Instant, due bool) {
	m := h.attempt.mutex
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	at = h.until.Add(-m.config.Margin)
	if h.extending {
		at = h.until
	}
	return at, now >= at
}

// warn informs the holder that the validity is about to end, unless the hold has ended.
func (h *Hold) warn() { h.tell(warned, env.StepExpiring, ErrExpiring) }

// lose informs the holder that the lock is lost, unless the hold has ended, and returns the cause.
// It deletes nothing: only the holder's release does.
func (h *Hold) lose(cause error) error {
	h.tell(gone, env.StepLost, cause)
	return cause
}

func (h *Hold) tell(state holdState, step env.Step, cause error) {
	m := h.attempt.mutex
	m.mu.Lock()
	was := h.state
	if was == held {
		h.state = state
	}
	m.mu.Unlock()
	if was == held {
		h.end(cause)
		m.observer.Observe(env.Event{Step: step, Resource: h.attempt.resource, Token: h.attempt.token, Err: cause})
	}
}

// sleepUntil returns nil when the lock's clock should have reached until, or the error of ctx when
// ctx ends. Sleep uses the monotonic clock, so the caller has to check the lock's clock again: a
// slow clock may not have reached until. If the machine was suspended, the clock has reached it
// earlier, which the next check notices.
func (m *Mutex) sleepUntil(ctx context.Context, until env.Instant) error {
	if m.config.Clock == env.Monotonic {
		return m.runtime.Sleep(ctx, until)
	}
	left := until.Sub(m.now())
	if left <= 0 {
		return ctx.Err()
	}
	left = min(left, m.config.TTL/clockChecks)
	if err := m.runtime.Sleep(ctx, m.runtime.Now(env.Monotonic).Add(left)); err != nil || left >= clockPoll {
		return err
	}
	if until.Sub(m.now()) <= 0 {
		return nil
	}
	// The clock should have reached until and has not: it is slow.
	return m.runtime.Sleep(ctx, m.runtime.Now(env.Monotonic).Add(clockPoll-left))
}

// clockChecks is how often in a TTL a lock on [env.Boottime] checks that clock.
const clockChecks = 16

// clockPoll is the shortest sleep between two checks: a clock can stand still just before its
// time.
const clockPoll = time.Millisecond
