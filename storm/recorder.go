package storm

import (
	"errors"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// recorder writes the steps of one client into the history, and tells the
// world of each. It is the observer of the client's lock; the workload reports
// its own steps to it as well.
//
// A call is recorded before the world hears of the step, which may pause the
// client there; a return is recorded after. So the history never makes an
// operation shorter than it was.
type recorder struct {
	world  World
	client int
}

// Observe implements [env.Observer].
func (r *recorder) Observe(e env.Event) {
	h := history.Event{
		Resource: e.Resource,
		Token:    e.Token,
		TTL:      e.TTL,
		Until:    int64(e.Until),
		Validity: e.Validity,
		Outcome:  outcomeOf(e.Answer),
	}
	if e.Err != nil {
		h.Reason = e.Err.Error()
	}
	switch e.Step {
	case env.StepAcquire:
		r.called(history.Acquire, h, e.Step)
	case env.StepGranted:
		r.returned(history.Granted, h, e.Step)
	case env.StepRefused:
		r.returned(history.Refused, h, e.Step)
		r.world.Unwatch(r.client, e.Token)
	case env.StepExtend:
		r.called(history.Extend, h, e.Step)
	case env.StepExtended:
		r.world.Watch(r.client, e.Resource, e.Token, e.Until)
		r.returned(history.Extended, h, e.Step)
	case env.StepExtendFailed:
		r.returned(history.ExtendFailed, h, e.Step)
	case env.StepExpiring:
		r.called(history.Expiring, h, e.Step)
	case env.StepLost:
		r.called(history.Lost, h, e.Step)
	case env.StepBeforeRelease:
		r.called(history.Release, h, e.Step)
		r.world.Unwatch(r.client, e.Token)
	case env.StepReleased:
		r.returned(history.Released, h, e.Step)
	default:
		r.passed(e)
	}
}

// called records the begin of an operation, or a message to the client.
func (r *recorder) called(kind history.Kind, h history.Event, step env.Step) {
	h.Kind, h.Client = kind, r.client
	r.world.Record(&h)
	r.world.Reach(r.client, step, 0)
}

// returned records the end of an operation.
func (r *recorder) returned(kind history.Kind, h history.Event, step env.Step) {
	r.world.Reach(r.client, step, 0)
	h.Kind, h.Client = kind, r.client
	r.world.Record(&h)
}

// passed records a step within an operation.
func (r *recorder) passed(e env.Event) {
	if e.Step == env.StepBeforeSend {
		// From here on the end of validity is known, and the clock may come
		// to it before the operation returns.
		r.world.Watch(r.client, e.Resource, e.Token, e.Until)
	}
	r.world.Record(&history.Event{
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
}

// calls and returns of accesses to the guarded resource.

func (r *recorder) readCalled(a env.Access) {
	r.called(history.Read, access(a, 0), env.StepBeforeRead)
}

func (r *recorder) readReturned(a env.Access, value int64, err error) {
	r.returned(history.ReadDone, answered(access(a, value), err), env.StepAfterRead)
}

func (r *recorder) writeCalled(a env.Access, value int64) {
	r.called(history.Write, access(a, value), env.StepBeforeWrite)
}

func (r *recorder) writeReturned(a env.Access, value int64, err error) {
	r.returned(history.WriteDone, answered(access(a, value), err), env.StepAfterWrite)
}

func access(a env.Access, value int64) history.Event {
	return history.Event{Resource: a.Resource, Token: a.Token, Fence: a.Fence, Value: value}
}

func answered(h history.Event, err error) history.Event {
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
