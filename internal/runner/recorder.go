package runner

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// recorder writes the steps of one client into the history and reports them to the world.
// It is the observer of the client's lock; the workload reports its own steps to it as
// well.
//
// A call is recorded before the world gets the step, at which it may pause the client; a
// return is recorded after. So the history never makes an operation shorter than it was.
type recorder struct {
	world  Environment
	client int
	clock  env.Clock    // that the lock reads
	ends   validityEnds // of validity, that the world watches for
	sent   atomic.Int64 // requests, since the history was last told
	read   clockReading
}

// stepKinds maps steps that begin or end an operation, or notify the client, to kinds of
// events.
var stepKinds = [...]struct {
	kind    history.Kind
	returns bool // the step is the end of an operation
}{
	env.StepAcquire:       {history.Acquire, false},
	env.StepGranted:       {history.Granted, true},
	env.StepRefused:       {history.Refused, true},
	env.StepExtend:        {history.Extend, false},
	env.StepExtended:      {history.Extended, true},
	env.StepExtendFailed:  {history.ExtendFailed, true},
	env.StepExpiring:      {history.Expiring, false},
	env.StepLost:          {history.Lost, false},
	env.StepBeforeRelease: {history.Release, false},
	env.StepReleased:      {history.Released, true},
	env.StepAfterWrite:    {}, // the last step
}

// Observe implements [env.Observer].
func (r *recorder) Observe(e env.Event) {
	what := stepKinds[e.Step]
	r.read.begun(&e)
	if what.kind == 0 {
		r.innerStep(&e)
		return
	}
	h := history.Event{
		Kind:     what.kind,
		Resource: e.Resource,
		Token:    e.Token,
		TTL:      e.TTL,
		Until:    int64(e.Until),
		Validity: e.Validity,
		Fence:    e.Fence,
		Weight:   e.Weight,
		Outcome:  outcomeOf(e.Answer),
	}
	if e.Until == env.Never {
		h.Until = 0
	}
	if e.Err != nil {
		h.Reason = e.Err.Error()
	}
	if what.returns {
		h.Now = r.read.of(&e)
		h.K = int(r.sent.Swap(0))
		// A client that dies here never returns, and its earlier validity still ends. So the new
		// end is watched only from the reported return on.
		r.world.Reach(r.client, e.Step, 0)
		r.watchEnd(&e)
		r.record(&h)
	} else {
		r.watchEnd(&e)
		r.called(&h, e.Step)
	}
	if e.Step == env.StepRefused || e.Step == env.StepBeforeRelease {
		r.world.Unwatch(r.client, e.Token)
	}
}

// watchEnd makes the world watch the end of validity that is in force after this step.
func (r *recorder) watchEnd(e *env.Event) {
	if r.ends.move(e) {
		r.world.Watch(r.client, r.clock, e.Resource, e.Token, e.Until)
	}
}

func (r *recorder) record(h *history.Event) {
	h.Client = r.client
	r.world.Record(*h)
}

// called records the start of an operation, or a notification of the client.
func (r *recorder) called(h *history.Event, step env.Step) {
	r.record(h)
	r.world.Reach(r.client, step, 0)
}

// returned records the end of an operation.
func (r *recorder) returned(h *history.Event, step env.Step) {
	r.world.Reach(r.client, step, 0)
	r.record(h)
}

// innerStep records a step within an operation.
func (r *recorder) innerStep(e *env.Event) {
	if e.Step == env.StepBeforeSend {
		// From here on the end of validity is known, and the clock may come
		// to it before the operation returns.
		r.watchEnd(e)
	}
	r.world.Record(history.Event{
		Kind:     history.Step,
		Client:   r.client,
		Resource: e.Resource,
		Token:    e.Token,
		Name:     e.Step.String(),
		Node:     e.Reply.Node,
		K:        e.K,
		Outcome:  outcomeOf(e.Reply.Answer),
	})
	r.world.Reach(r.client, e.Step, e.K)
	r.read.passed(e, func() env.Instant { return r.world.Runtime(r.client).Now(r.clock) })
}

// calls and returns of accesses to the guarded resource.

func (r *recorder) readCalled(a env.Access) {
	r.called(access(history.Read, a, 0), env.StepBeforeRead)
}

func (r *recorder) readReturned(a env.Access, value int64, err error) {
	r.returned(answered(access(history.ReadDone, a, value), err), env.StepAfterRead)
}

func (r *recorder) writeCalled(a env.Access, value int64) {
	r.called(access(history.Write, a, value), env.StepBeforeWrite)
}

func (r *recorder) writeReturned(a env.Access, value int64, err error) {
	r.returned(answered(access(history.WriteDone, a, value), err), env.StepAfterWrite)
}

func (r *recorder) checkCalled(h Hold) {
	r.world.Record(history.Event{Kind: history.Check, Client: r.client, Resource: h.Resource(), Token: h.Token()})
}

func (r *recorder) checkReturned(h Hold, err error) {
	e := history.Event{Kind: history.Checked, Client: r.client, Resource: h.Resource(), Token: h.Token(), Outcome: history.OK}
	if err != nil {
		e.Outcome, e.Reason = history.Declined, err.Error()
	}
	r.world.Record(e)
}

func access(kind history.Kind, a env.Access, value int64) *history.Event {
	return &history.Event{Kind: kind, Resource: a.Resource, Token: a.Token, Fence: a.Fence, Value: value}
}

func answered(h *history.Event, err error) *history.Event {
	switch {
	case err == nil:
		h.Outcome = history.OK
	case errors.Is(err, env.ErrFenced):
		h.Outcome, h.Reason = history.Declined, err.Error()
	default:
		h.Outcome, h.Reason = history.Unknown, err.Error()
	}
	return h
}

func outcomeOf(a env.Answer) history.Outcome {
	switch a {
	case env.Yes:
		return history.OK
	case env.No, env.Failed:
		return history.Declined
	case env.Lost:
		return history.Unknown
	}
	return 0
}

// validityEnds has the current ends of validity of one client's tries and holds, of which
// several may be in progress. The list is short.
type validityEnds struct {
	mu   sync.Mutex
	list []validityEnd
}

type validityEnd struct {
	token string
	until env.Instant
}

// move updates the end of validity at a step of the lock, and reports whether the world
// has to watch the end that the step names. An extension to an earlier end counts from its
// call on, because it may take effect without an answer.
func (l *validityEnds) move(e *env.Event) bool {
	switch e.Step {
	case env.StepBeforeSend, env.StepGranted, env.StepRefused, env.StepExtend, env.StepExtended, env.StepBeforeRelease:
	default:
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.list, func(v validityEnd) bool { return v.token == e.Token })
	now := env.Never
	if i >= 0 {
		now = l.list[i].until
	}
	switch {
	case e.Step == env.StepRefused || e.Step == env.StepBeforeRelease:
		if i >= 0 {
			l.list = slices.Delete(l.list, i, i+1)
		}
		return false
	case e.Step == env.StepBeforeSend && e.Until != env.Never:
	case e.Step == env.StepGranted && e.Until != now:
	case e.Step == env.StepExtend && e.Until != 0 && e.Until < now:
	case e.Step == env.StepExtended:
	default:
		return false
	}
	if i < 0 {
		l.list = append(l.list, validityEnd{e.Token, e.Until})
	} else {
		l.list[i].until = e.Until
	}
	return true
}

// clockReading is what the lock's clock showed when the current acquisition or extension
// reached its validity check: after the last reply, and before the lock itself read the
// clock. The checker compares it with the validity that the lock reports.
//
// Background work of a lock takes steps too, under other tokens.
type clockReading struct {
	mu    sync.Mutex
	token string // of the operation under way
	at    env.Instant
	taken bool
}

// begun resets the reading when an operation begins.
func (r *clockReading) begun(e *env.Event) {
	if e.Step != env.StepAcquire && e.Step != env.StepExtend {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.token, r.taken = e.Token, false
}

// passed reads the clock when the client continues from a step after which the lock reads
// it.
func (r *clockReading) passed(e *env.Event, now func() env.Instant) {
	if e.Step != env.StepReply && e.Step != env.StepQuorum && e.Step != env.StepBeforeCheck {
		return
	}
	at := now() // where time is real, a client can be paused in it
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.token == e.Token {
		r.at, r.taken = at, true
	}
}

// of returns the reading for the return of a successful operation with an end of validity,
// or 0 if there is none.
func (r *clockReading) of(e *env.Event) int64 {
	if e.Step != env.StepGranted && e.Step != env.StepExtended || e.Until == env.Never {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.taken || r.token != e.Token {
		return 0
	}
	return int64(r.at)
}
