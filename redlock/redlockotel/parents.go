package redlockotel

import (
	"context"

	"go.opentelemetry.io/otel/trace"
)

// This file says on what spans hang.

// byCaller: an acquisition hangs on what the caller has there. So will the hold, or
// on the acquisition, if that is nothing.
func (t *try) byCaller(ctx context.Context) (context.Context, []trace.Link) {
	t.asked = trace.SpanContextFromContext(ctx)
	t.home = t.asked
	if c := callOf(ctx); c != nil && same(c.span, t.asked) {
		t.home = c.home
		c.tries.Add(1)
		c.last.Store(t)
	}
	return ctx, nil
}

// atHome: a hold and its release hang where the caller was; a release that is called
// from elsewhere hangs there.
func (t *try) atHome(ctx context.Context) (context.Context, []trace.Link) {
	if t.home.IsValid() {
		return t.unlessElsewhere(ctx, bare(t.home))
	}
	return t.unlessElsewhere(ctx, t.acquire.ctx)
}

// byHold: an extension hangs on the hold, unless it is called from elsewhere.
func (t *try) byHold(ctx context.Context) (context.Context, []trace.Link) {
	if t.hold == nil { // it was granted, and the observer has not heard of it yet
		return t.atHome(ctx)
	}
	return t.unlessElsewhere(ctx, t.hold.ctx)
}

// unlessElsewhere returns home, unless the caller has a span of its own there that is
// not the one with which the lock was asked for. Then that one leads to the hold by a
// link.
func (t *try) unlessElsewhere(ctx, home context.Context) (context.Context, []trace.Link) {
	caller := trace.SpanContextFromContext(ctx)
	switch {
	case !caller.IsValid() || same(caller, t.asked) || same(caller, t.home):
		return home, nil
	case t.hold == nil:
		return ctx, nil
	}
	return ctx, []trace.Link{trace.LinkFromContext(t.hold.ctx)}
}

func same(a, b trace.SpanContext) bool {
	return a.TraceID() == b.TraceID() && a.SpanID() == b.SpanID()
}

// bare returns a context that bears a span, if there is one, and nothing else.
func bare(span trace.SpanContext) context.Context {
	if !span.IsValid() {
		return context.Background()
	}
	return trace.ContextWithSpanContext(context.Background(), span)
}
