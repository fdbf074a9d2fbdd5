package redlockotel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
)

// operation is one thing that is done for a try: the acquisition, an extension, the
// release; or the hold. Its span begins, by its own time, when the operation does; it
// is made as soon as it is known what it hangs on, which is when the lock waits for
// the first answer, in the caller's context. Guarded by the try's mu.
type operation struct {
	try   *try
	name  string
	hangs func(context.Context) (parent context.Context, links []trace.Link) // on what, if it was called with that
	about []attribute.KeyValue                                               // what is known from the start
	begun env.Instant

	span     trace.Span      // nil: not made yet, or over
	ctx      context.Context // with that span and nothing else, so that no caller's values are kept; never nil
	recorded bool            // the span is, or was until it ended
	over     bool
}

// make makes the span, unless there is one. ctx is what the operation was called
// with, or Background where nobody knows.
func (o *operation) make(ctx context.Context) {
	if o.span != nil || o.over {
		return
	}
	parent, links := o.hangs(ctx)
	options := append(make([]trace.SpanStartOption, 0, 3), trace.WithTimestamp(o.try.at(o.begun)), trace.WithAttributes(o.about...))
	if len(links) > 0 {
		options = append(options, trace.WithLinks(links...))
	}
	_, o.span = o.try.telemetry.tracer.Start(parent, o.name, options...)
	o.ctx, o.recorded = bare(o.span.SpanContext()), o.span.IsRecording()
}

// note adds an event to the span.
func (o *operation) note(name string, at env.Instant) {
	if o.recorded && !o.over {
		o.span.AddEvent(name, trace.WithTimestamp(o.try.at(at)))
	}
}

// end ends the operation, and returns how long it took and the context in which that
// is to be measured.
func (o *operation) end(at env.Instant, out outcome, err error, more ...attribute.KeyValue) (context.Context, time.Duration) {
	o.make(context.Background())
	if o.over {
		return context.Background(), 0
	}
	o.over = true
	if o.recorded {
		o.span.SetAttributes(append(more, out.attributes()...)...)
		fail(o.span, out, err, o.try.token)
		o.span.End(trace.WithTimestamp(o.try.at(at)))
	}
	o.span, o.about, o.hangs = nil, nil, nil // what is over is remembered for long
	return o.ctx, at.Sub(o.begun)
}

// fail gives a span the status of an error that is not routine.
func fail(span trace.Span, out outcome, err error, token string) {
	if err != nil && !redlock.Routine(err) {
		span.SetAttributes(errorType.String(out.String()))
		span.SetStatus(codes.Error, redlock.ErrorText(err, token))
	}
}

// request makes the span of a request that was sent for the operation and has been
// heard of, be it after the operation's end. One that records nothing has none below
// it.
func (o *operation) request(command env.Command, reply *env.Reply, sent, heard env.Instant) {
	if !o.recorded {
		return
	}
	attributes := append(make([]attribute.KeyValue, 0, 5),
		opKey.String(command.Op.String()), nodeKey.Int(reply.Node), answerKey.String(reply.Answer.String()))
	if o.over {
		attributes = append(attributes, lateKey.Bool(true))
	}
	failed := reply.Answer == env.Failed || reply.Answer == env.Lost
	if failed {
		attributes = append(attributes, errorType.String(reply.Answer.String()))
	}
	_, span := o.try.telemetry.tracer.Start(o.ctx, requestNames[command.Op][reply.Node],
		trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(o.try.at(sent)), trace.WithAttributes(attributes...))
	if failed {
		span.SetStatus(codes.Error, failure(reply, o.try.token))
	}
	span.End(trace.WithTimestamp(o.try.at(heard)))
}

func failure(reply *env.Reply, token string) string {
	if reply.Err == nil {
		return "no answer"
	}
	return redlock.ErrorText(reply.Err, token)
}

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
