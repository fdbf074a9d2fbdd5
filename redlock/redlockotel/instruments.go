package redlockotel

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
)

// instruments take the measurements.
type instruments struct {
	class func(string) string // nil: resources have none

	lock, acquire, extend, release metric.Float64Histogram
	validity, hold, request        metric.Float64Histogram
	tries                          metric.Int64Histogram
	active                         metric.Int64UpDownCounter
	losses                         metric.Int64Counter

	// Attributes that are needed often are made once.
	byOutcome [outcomes]metric.MeasurementOption // 0: without an outcome
	byReply   [env.MaxNodes + 1][env.Ops][answers]atomic.Pointer[[]metric.RecordOption]
}

// answers is the number of answers, including none.
const answers = int(env.Lost) + 1

// The bounds of buckets: seconds, for operations that take messages and for holds, and
// numbers of tries.
var (
	messages = metric.WithExplicitBucketBoundaries(0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
	work     = metric.WithExplicitBucketBoundaries(0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600)
	attempts = metric.WithExplicitBucketBoundaries(1, 2, 3, 5, 10, 20, 50, 100)
)

func newInstruments(m metric.Meter, class func(string) string) (*instruments, error) {
	i := &instruments{class: class}
	var errs []error
	seconds := func(into *metric.Float64Histogram, name, what string, bounds metric.HistogramOption) {
		var err error
		*into, err = m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what), bounds)
		errs = append(errs, err)
	}
	seconds(&i.lock, "redlock.lock.duration", "Time that callers of Lock have waited, with all tries and the delays between them.", messages)
	seconds(&i.acquire, "redlock.acquire.duration", "Time from the start of a try to its outcome.", messages)
	seconds(&i.validity, "redlock.acquire.validity", "Validity that was left at the grant.", work)
	seconds(&i.hold, "redlock.hold.duration", "Time from the grant to the release, the warning or the loss.", work)
	seconds(&i.extend, "redlock.extend.duration", "Time that an extension has taken.", messages)
	seconds(&i.release, "redlock.release.duration", "Time that a release has taken.", messages)
	seconds(&i.request, "redlock.node.request.duration", "Time from a request to a node to its answer, or until it was given up.", messages)
	var err error
	i.tries, err = m.Int64Histogram("redlock.lock.tries", metric.WithUnit("{try}"), metric.WithDescription("Tries that a call of Lock has made."), attempts)
	errs = append(errs, err)
	i.active, err = m.Int64UpDownCounter("redlock.hold.active", metric.WithUnit("{hold}"), metric.WithDescription("Locks that are held."))
	errs = append(errs, err)
	i.losses, err = m.Int64Counter("redlock.hold.losses", metric.WithUnit("{hold}"), metric.WithDescription("Locks that were lost before their holder released them."))
	errs = append(errs, err)
	for o := range outcomes {
		i.byOutcome[o] = metric.WithAttributeSet(attribute.NewSet(o.attributes()...))
	}
	return i, errors.Join(errs...)
}

// of returns the attributes of an operation on a resource with an outcome.
func (i *instruments) of(resource string, out outcome) metric.MeasurementOption {
	if i.class == nil {
		return i.byOutcome[out]
	}
	return metric.WithAttributeSet(attribute.NewSet(append(out.attributes(), classKey.String(i.class(resource)))...))
}

// locked and the following methods record the end of an operation.
func (i *instruments) locked(ctx context.Context, resource string, took time.Duration, tries int64, out outcome) {
	i.lock.Record(ctx, took.Seconds(), i.of(resource, out))
	i.tries.Record(ctx, tries, i.of(resource, out))
}

func (i *instruments) granted(ctx context.Context, resource string, took, validity time.Duration) {
	i.acquire.Record(ctx, took.Seconds(), i.of(resource, granted))
	i.validity.Record(ctx, validity.Seconds(), i.of(resource, 0))
	i.active.Add(ctx, 1, i.of(resource, 0))
}

func (i *instruments) refused(ctx context.Context, resource string, took time.Duration, out outcome) {
	i.acquire.Record(ctx, took.Seconds(), i.of(resource, out))
}

func (i *instruments) extended(ctx context.Context, resource string, took time.Duration, out outcome) {
	i.extend.Record(ctx, took.Seconds(), i.of(resource, out))
}

func (i *instruments) holdEnded(ctx context.Context, resource string, lasted time.Duration, out outcome) {
	i.hold.Record(ctx, lasted.Seconds(), i.of(resource, out))
	i.active.Add(ctx, -1, i.of(resource, 0))
}

func (i *instruments) lost(ctx context.Context, resource string, out outcome) {
	i.losses.Add(ctx, 1, i.of(resource, out))
}

func (i *instruments) released(ctx context.Context, resource string, took time.Duration, out outcome) {
	i.release.Record(ctx, took.Seconds(), i.of(resource, out))
}

func (i *instruments) requested(ctx context.Context, op env.Op, reply *env.Reply, took time.Duration) {
	i.request.Record(ctx, took.Seconds(), i.ofRequest(op, reply)...)
}

// ofRequest returns the attributes of a request.
func (i *instruments) ofRequest(op env.Op, reply *env.Reply) []metric.RecordOption {
	ready := &i.byReply[reply.Node][op][reply.Answer]
	if options := ready.Load(); options != nil {
		return *options
	}
	options := []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(
		nodeKey.Int(reply.Node), opKey.String(op.String()), answerKey.String(reply.Answer.String())))}
	ready.Store(&options)
	return options
}

// The attributes. Times are in seconds.
const (
	resourceKey = attribute.Key("redlock.resource")
	classKey    = attribute.Key("redlock.resource.class")
	tokenKey    = attribute.Key("redlock.token")
	ttlKey      = attribute.Key("redlock.ttl")
	validityKey = attribute.Key("redlock.validity")
	fenceKey    = attribute.Key("redlock.fence")
	triesKey    = attribute.Key("redlock.tries")
	outcomeKey  = attribute.Key("redlock.outcome")
	nodeKey     = attribute.Key("redlock.node")
	opKey       = attribute.Key("redlock.op")
	answerKey   = attribute.Key("redlock.answer")
	lateKey     = attribute.Key("redlock.late")
	errorType   = attribute.Key("error.type") // as OpenTelemetry calls it everywhere
)

// outcome is the outcome of an operation.
type outcome uint8

const (
	granted outcome = iota + 1
	extended
	released
	taken
	noQuorum
	tooLate
	noFence
	cancelled
	lost
	expiring
	closed
	abandoned
	failed // for a reason that is not listed

	outcomes
)

var outcomeNames = [outcomes]string{
	granted: "granted", extended: "extended", released: "released", taken: "taken", noQuorum: "no_quorum",
	tooLate: "too_late", noFence: "no_fence", cancelled: "cancelled", lost: "lost", expiring: "expiring",
	closed: "closed", abandoned: "abandoned", failed: "error",
}

func (o outcome) String() string { return outcomeNames[o] }

// attributes returns the attributes of the outcome; none for 0.
func (o outcome) attributes() []attribute.KeyValue {
	if o == 0 {
		return nil
	}
	return []attribute.KeyValue{outcomeKey.String(o.String())}
}

// failures maps errors to outcomes; the first that matches counts. An error without a fence
// may also be one without a quorum.
var failures = [...]struct {
	err error
	out outcome
}{
	{errAbandoned, abandoned},
	{redlock.ErrNoFence, noFence},
	{redlock.ErrTaken, taken},
	{redlock.ErrClosed, closed},
	{redlock.ErrLost, lost},
	{redlock.ErrExpiring, expiring},
	{redlock.ErrReleased, released},
	{redlock.ErrValidity, tooLate},
	{context.Canceled, cancelled},
	{context.DeadlineExceeded, cancelled},
	{redlock.ErrNoQuorum, noQuorum},
}

// outcomeOf returns the outcome of an operation with an error, or success without one.
func outcomeOf(err error, success outcome) outcome {
	if err == nil {
		return success
	}
	for _, f := range failures {
		if errors.Is(err, f.err) {
			return f.out
		}
	}
	return failed
}

// errAbandoned is the error of an operation that nobody has ended.
var errAbandoned = errors.New("the outcome is not known")

// requestNames are the names of the spans of requests. They are needed often.
var requestNames = func() (names [env.Ops][env.MaxNodes + 1]string) {
	for op := range names {
		for node := range names[op] {
			names[op][node] = env.Op(op).String() + " node " + strconv.Itoa(node)
		}
	}
	return names
}()
