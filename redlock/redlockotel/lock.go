package redlockotel

import (
	"context"
	"sync/atomic"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockstorm/lockstorm/redlock"
)

// call is one call of [Telemetry.Lock]. Its tries find it in their context.
type call struct {
	span  trace.SpanContext
	home  trace.SpanContext // the parent of hold and release
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

// Lock is [redlock.Mutex.Lock] of a mutex with this telemetry, with one span around its tries
// and the delays between them: the time that the caller waits, and the number of tries. An
// observer of mutex.Lock cannot make that span, because steps do not say which tries belong to
// one call.
func (t *Telemetry) Lock(ctx context.Context, mutex *redlock.Mutex, resource string) (hold *redlock.Hold, err error) {
	line := t.timeline()
	c := &call{home: trace.SpanContextFromContext(ctx)}
	ctx, span := t.tracer.Start(ctx, "redlock lock", trace.WithTimestamp(line.at(line.began)), trace.WithAttributes(resourceKey.String(resource)))
	c.span = span.SpanContext()
	if !c.home.IsValid() {
		c.home = c.span
	}
	err = errAbandoned // stays if a fence source panics
	defer func() {
		now, out, tries := t.elapsed(), outcomeOf(err, granted), c.tries.Load()
		span.SetAttributes(append(out.attributes(), triesKey.Int64(tries))...)
		fail(span, out, err, c.token())
		span.End(trace.WithTimestamp(line.at(now)))
		t.instruments.locked(ctx, resource, now.Sub(line.began), tries, out)
	}()
	return mutex.Lock(context.WithValue(ctx, callKey{}, c), resource)
}

// maxOver is the number of ended tries that are remembered, so that their later requests
// have the right parent.
const maxOver = 4096

// maxOpen is the number of tries that have not ended, including holds, beyond which no more
// are followed. A mutex ends all of its own.
const maxOpen = 1 << 16

// queue is a first-in first-out list of at most maxOver tries.
type queue struct {
	list []*try
	next int // the oldest, once the list is full
}

// push adds a try, and returns the one that it replaces, or nil.
func (q *queue) push(one *try) (gone *try) {
	if len(q.list) < maxOver {
		q.list = append(q.list, one)
		return nil
	}
	gone, q.list[q.next] = q.list[q.next], one
	q.next = (q.next + 1) % maxOver
	return gone
}

// follow remembers a new try. Tokens differ, unless they come from a clock that was stepped
// back: then the older try is forgotten.
func (t *Telemetry) follow(one *try) {
	t.mu.Lock()
	if t.closed || len(t.tries)-len(t.over.list) >= maxOpen {
		t.mu.Unlock()
		return
	}
	older := t.tries[one.token]
	t.tries[one.token] = one
	t.mu.Unlock()
	if older != nil {
		older.abandon()
	}
}

// find returns the try of a token, or nil.
func (t *Telemetry) find(token string) *try {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tries[token]
}

// retire notes that a try has ended, and forgets the oldest ended one if there are too many.
func (t *Telemetry) retire(one *try) {
	t.mu.Lock()
	if t.closed || one.retired {
		t.mu.Unlock()
		return
	}
	one.retired = true
	gone := t.over.push(one)
	if gone != nil && t.tries[gone.token] == gone {
		delete(t.tries, gone.token)
	}
	t.mu.Unlock()
	if gone != nil {
		gone.abandon()
	}
}
