package redlockotel

import (
	"context"
	"sync/atomic"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockstorm/lockstorm/redlock"
)

// call is one call of [Telemetry.Lock], which its tries find in their context.
type call struct {
	span  trace.SpanContext
	home  trace.SpanContext // on which hold and release hang
	tries atomic.Int64
	last  atomic.Pointer[try]
}

type callKey struct{}

// callOf returns the call in which a context was made, or nil.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// token returns the token of the last try.
func (c *call) token() string {
	if one := c.last.Load(); one != nil {
		return one.token
	}
	return ""
}

// Lock is [redlock.Mutex.Lock] of a mutex with this telemetry, as one span around its
// tries and the delays between them: how long the caller has waited, and after how
// many tries. No observer can tell that of mutex.Lock itself, because it does not hear
// which tries belong together.
func (t *Telemetry) Lock(ctx context.Context, mutex *redlock.Mutex, resource string) (hold *redlock.Hold, err error) {
	line := t.timeline()
	c := &call{home: trace.SpanContextFromContext(ctx)}
	ctx, span := t.tracer.Start(ctx, "redlock lock", trace.WithTimestamp(line.at(line.began)), trace.WithAttributes(resourceKey.String(resource)))
	c.span = span.SpanContext()
	if !c.home.IsValid() {
		c.home = c.span
	}
	err = errAbandoned // and stays it if somebody's fence source panics
	defer func() {
		now, out, tries := t.elapsed(), outcomeOf(err, granted), c.tries.Load()
		span.SetAttributes(append(out.attributes(), triesKey.Int64(tries))...)
		fail(span, out, err, c.token())
		span.End(trace.WithTimestamp(line.at(now)))
		t.instruments.locked(ctx, resource, now.Sub(line.began), tries, out)
	}()
	return mutex.Lock(context.WithValue(ctx, callKey{}, c), resource)
}
