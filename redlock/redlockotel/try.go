package redlockotel

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
)

// try is one try to acquire, with its hold, extensions and release.
type try struct {
	timeline
	telemetry       *Telemetry
	resource, token string

	mu        sync.Mutex        // locked while a provider makes or ends a span
	caller    trace.SpanContext // the span in which the lock was called
	home      trace.SpanContext // the parent of hold and release, if valid
	acquire   *operation
	hold      *operation // nil before the grant; the next two are nil before their first call
	extension *operation
	release   *operation
	ended     outcome // the outcome of the hold; 0: it has not ended
	gone      bool    // abandoned: further events are ignored

	retired bool // guarded by the telemetry's mu
}

// begin starts to follow a try.
func (t *Telemetry) begin(e *env.Event) {
	one := &try{timeline: t.timeline(), telemetry: t, resource: e.Resource, token: e.Token}
	one.acquire = one.operation("redlock acquire", one.began, e.TTL, one.acquireParent)
	t.follow(one)
}

// operation returns an operation that begins now.
func (t *try) operation(name string, now env.Instant, ttl time.Duration, parent func(context.Context) (context.Context, []trace.Link)) *operation {
	about := append(make([]attribute.KeyValue, 0, 3), resourceKey.String(t.resource), tokenKey.String(redlock.ShortToken(t.token)))
	if ttl != 0 {
		about = append(about, ttlKey.Float64(ttl.Seconds()))
	}
	return &operation{try: t, name: name, begun: now, about: about, parent: parent, ctx: context.Background()}
}

// observe processes a step of the try.
func (t *try) observe(e *env.Event) {
	now := t.telemetry.elapsed()
	t.mu.Lock()
	over := !t.gone && t.step(e, now)
	t.mu.Unlock()
	if over {
		t.telemetry.retire(t)
	}
}

// step processes a step, and reports whether only a release can follow. Steps may come out of
// order: the warning or the loss may precede the grant, and both may follow the start of a
// release.
func (t *try) step(e *env.Event, now env.Instant) (over bool) {
	switch e.Step {
	case env.StepQuorum, env.StepQueued, env.StepWoken:
		t.acquire.note(e.Step.String(), now)
	case env.StepGranted:
		t.granted(e, now)
	case env.StepRefused:
		out := outcomeOf(e.Err, granted)
		ctx, took := t.acquire.end(now, out, e.Err)
		t.telemetry.instruments.refused(ctx, t.resource, took, out)
		return true
	case env.StepExtend:
		t.extension = t.operation("redlock extend", now, e.TTL, t.extensionParent)
	case env.StepExtended, env.StepExtendFailed:
		t.extended(e, now)
	case env.StepExpiring, env.StepLost:
		t.holdWarned(e, now)
		return true
	case env.StepBeforeRelease:
		t.endHold(now, released, nil)
		t.release = t.operation("redlock release", now, 0, t.holdParent)
	case env.StepReleased:
		t.released(e, now)
		return true
	}
	return false
}

// granted ends the acquisition and begins the hold.
func (t *try) granted(e *env.Event, now env.Instant) {
	about := []attribute.KeyValue{validityKey.Float64(e.Validity.Seconds())}
	if e.Fence != 0 {
		about = append(about, fenceKey.Int64(int64(e.Fence)))
	}
	ctx, took := t.acquire.end(now, granted, nil, about...)
	t.telemetry.instruments.granted(ctx, t.resource, took, e.Validity)

	t.hold = t.operation("redlock hold", now, 0, t.holdParent)
	t.hold.make(context.Background())
	if out := t.ended; out != 0 {
		t.ended = 0
		t.endHold(now, out, nil)
	}
}

// holdWarned ends the hold when its holder is notified of the loss, or of the coming end.
func (t *try) holdWarned(e *env.Event, now env.Instant) {
	out := outcomeOf(e.Err, lost)
	if t.hold != nil {
		t.hold.note(e.Step.String(), now)
	}
	t.endHold(now, out, e.Err)
	if e.Step == env.StepLost {
		t.telemetry.instruments.lost(t.acquire.ctx, t.resource, out)
	}
}

// endHold ends the hold, unless it has ended.
func (t *try) endHold(now env.Instant, out outcome, err error) {
	if t.ended != 0 {
		return
	}
	t.ended = out
	if t.hold != nil {
		ctx, lasted := t.hold.end(now, out, err)
		t.telemetry.instruments.holdEnded(ctx, t.resource, lasted, out)
	}
}

// extended ends the extension, successful or not.
func (t *try) extended(e *env.Event, now env.Instant) {
	if t.extension == nil {
		return
	}
	var about []attribute.KeyValue
	if e.Err == nil {
		about = append(about, validityKey.Float64(e.Validity.Seconds()))
	}
	out := outcomeOf(e.Err, extended)
	ctx, took := t.extension.end(now, out, e.Err, about...)
	t.telemetry.instruments.extended(ctx, t.resource, took, out)
}

// released ends the release, which may be the first to find the lock lost.
func (t *try) released(e *env.Event, now env.Instant) {
	if t.release == nil {
		return
	}
	out := outcomeOf(e.Err, released)
	ctx, took := t.release.end(now, out, e.Err)
	t.telemetry.instruments.released(ctx, t.resource, took, out)
	if out == lost && t.ended != lost {
		t.telemetry.instruments.lost(ctx, t.resource, lost)
	}
}

// operationFor returns the operation that sends a command.
func (t *try) operationFor(op env.Op) *operation {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case op == env.OpExtend && t.extension != nil:
		return t.extension
	case op == env.OpDelete && t.release != nil:
		return t.release
	}
	return t.acquire
}

// abandon ends all open operations. Further events of the try are ignored.
func (t *try) abandon() {
	now := t.telemetry.elapsed()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gone = true
	t.endHold(now, abandoned, errAbandoned)
	for _, o := range []*operation{t.acquire, t.extension, t.release} {
		if o != nil && !o.over {
			o.end(now, abandoned, errAbandoned)
		}
	}
}
