package runner

import (
	"context"
	"errors"
	"sync/atomic"

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
	world  Place
	client int
	clock  env.Clock    // that the lock reads
	ends   ends         // of validity, that the world watches for
	sent   atomic.Int64 // requests, since the history was last told
	read   reading
}

// told says what the history calls the steps that begin or end an operation, or
// tell the client something.
var told = [...]struct {
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
	what := told[e.Step]
	r.read.begun(&e)
	if what.kind == 0 {
		r.passed(&e)
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
		// Who dies here never returns, and what it was granted before still ends: so the
		// new end is watched for when the return is told, and not before.
		r.world.Reach(r.client, e.Step, 0)
		r.follow(&e)
		r.record(&h)
	} else {
		r.follow(&e)
		r.called(&h, e.Step)
	}
	if e.Step == env.StepRefused || e.Step == env.StepBeforeRelease {
		r.world.Unwatch(r.client, e.Token)
	}
}

// follow has the world watch for the end of validity that holds from this step on.
func (r *recorder) follow(e *env.Event) {
	if r.ends.move(e) {
		r.world.Watch(r.client, r.clock, e.Resource, e.Token, e.Until)
	}
}

func (r *recorder) record(h *history.Event) {
	h.Client = r.client
	r.world.Record(*h)
}

// called records the begin of an operation, or a message to the client.
func (r *recorder) called(h *history.Event, step env.Step) {
	r.record(h)
	r.world.Reach(r.client, step, 0)
}

// returned records the end of an operation.
func (r *recorder) returned(h *history.Event, step env.Step) {
	r.world.Reach(r.client, step, 0)
	r.record(h)
}

// passed records a step within an operation.
func (r *recorder) passed(e *env.Event) {
	if e.Step == env.StepBeforeSend {
		// From here on the end of validity is known, and the clock may come
		// to it before the operation returns.
		r.follow(e)
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

// counted returns the ports with nodes and a store that count the requests which
// go out, so that the history tells them.
func (r *recorder) counted(p ports) ports {
	p.nodes = countedNodes{p.nodes, &r.sent}
	if p.store != nil {
		p.store = countedStore{p.store, &r.sent}
	}
	return p
}

type countedNodes struct {
	env.Nodes
	sent *atomic.Int64
}

func (n countedNodes) Send(to env.NodeSet, command env.Command, giveUp env.Instant) env.Round {
	n.sent.Add(int64(to.Len()))
	return n.Nodes.Send(to, command, giveUp)
}

type countedStore struct {
	env.Store
	sent *atomic.Int64
}

func (s countedStore) Ask(ctx context.Context, r env.StoreRequest, until env.Instant) (env.StoreReply, error) {
	s.sent.Add(1)
	return s.Store.Ask(ctx, r, until)
}
