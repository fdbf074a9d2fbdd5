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

// operation is the acquisition, an extension or the release of a try, or its hold. The span's
// start time is that of the operation. The span is made when its parent is known: when the
// lock waits for the first reply, in the caller's context. Guarded by the try's mu.
type operation struct {
	try    *try
	name   string
	parent func(context.Context) (parent context.Context, links []trace.Link) // of the span, for a call in a context
	about  []attribute.KeyValue                                               // known from the start
	begun  env.Instant

	span     trace.Span      // nil: not made yet, or over
	ctx      context.Context // with that span and nothing else, so that no values of the caller are retained; never nil
	recorded bool            // the span is, or was until it ended
	over     bool
}

// make makes the span, unless there is one. ctx is the context of the call, or Background if it
// is unknown.
func (o *operation) make(ctx context.Context) {
	if o.span != nil || o.over {
		return
	}
	in, links := o.parent(ctx)
	options := append(make([]trace.SpanStartOption, 0, 3), trace.WithTimestamp(o.try.at(o.begun)), trace.WithAttributes(o.about...))
	if len(links) > 0 {
		options = append(options, trace.WithLinks(links...))
	}
	_, o.span = o.try.telemetry.tracer.Start(in, o.name, options...)
	o.ctx, o.recorded = bare(o.span.SpanContext()), o.span.IsRecording()
}

// note adds an event to the span.
func (o *operation) note(name string, at env.Instant) {
	if o.recorded && !o.over {
		o.span.AddEvent(name, trace.WithTimestamp(o.try.at(at)))
	}
}

// end ends the operation, and returns its duration and the context for measuring it.
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
	o.span, o.about, o.parent = nil, nil, nil // operations that have ended are kept for long
	return o.ctx, at.Sub(o.begun)
}

// fail gives a span the status of an error that is not routine.
func fail(span trace.Span, out outcome, err error, token string) {
	if err != nil && !redlock.Routine(err) {
		span.SetAttributes(errorType.String(out.String()))
		span.SetStatus(codes.Error, redlock.ErrorText(err, token))
	}
}

// request makes the span of a request of the operation, which has a reply or has expired,
// possibly after the operation's end. An operation that is not recorded has no children.
func (o *operation) request(command env.Command, reply *env.Reply, sent, replied env.Instant) {
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
	span.End(trace.WithTimestamp(o.try.at(replied)))
}

func failure(reply *env.Reply, token string) string {
	if reply.Err == nil {
		return "no answer"
	}
	return redlock.ErrorText(reply.Err, token)
}

// The parents of spans.

// acquireParent: the parent of an acquisition is the caller's span. The hold will have the same
// parent, or the acquisition if there is none.
func (t *try) acquireParent(ctx context.Context) (context.Context, []trace.Link) {
	t.caller = trace.SpanContextFromContext(ctx)
	t.home = t.caller
	if c := callOf(ctx); c != nil && same(c.span, t.caller) {
		t.home = c.home
		c.tries.Add(1)
		c.last.Store(t)
	}
	return ctx, nil
}

// holdParent: the parent of a hold and its release is the caller's span; that of a release in
// another span is that span.
func (t *try) holdParent(ctx context.Context) (context.Context, []trace.Link) {
	if t.home.IsValid() {
		return t.orCaller(ctx, bare(t.home))
	}
	return t.orCaller(ctx, t.acquire.ctx)
}

// extensionParent: the parent of an extension is the hold, unless it is called in another span.
func (t *try) extensionParent(ctx context.Context) (context.Context, []trace.Link) {
	if t.hold == nil { // granted, but the observer has not received that yet
		return t.holdParent(ctx)
	}
	return t.orCaller(ctx, t.hold.ctx)
}

// orCaller returns home, unless ctx has a span other than the one in which the lock was
// called. Then it returns ctx, with a link to the hold.
func (t *try) orCaller(ctx, home context.Context) (context.Context, []trace.Link) {
	span := trace.SpanContextFromContext(ctx)
	switch {
	case !span.IsValid() || same(span, t.caller) || same(span, t.home):
		return home, nil
	case t.hold == nil:
		return ctx, nil
	}
	return ctx, []trace.Link{trace.LinkFromContext(t.hold.ctx)}
}

func same(a, b trace.SpanContext) bool {
	return a.TraceID() == b.TraceID() && a.SpanID() == b.SpanID()
}

// bare returns a context with a span, if it is valid, and nothing else.
func bare(span trace.SpanContext) context.Context {
	if !span.IsValid() {
		return context.Background()
	}
	return trace.ContextWithSpanContext(context.Background(), span)
}
