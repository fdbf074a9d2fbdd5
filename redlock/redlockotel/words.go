package redlockotel

import (
	"context"
	"errors"
	"strconv"

	"go.opentelemetry.io/otel/attribute"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
)

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

// outcome is what came of an operation.
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

// attributes are what is said of the outcome; nothing of 0.
func (o outcome) attributes() []attribute.KeyValue {
	if o == 0 {
		return nil
	}
	return []attribute.KeyValue{outcomeKey.String(o.String())}
}

// failures says what errors mean, the first that fits. One that has no fence may have
// found no quorum for it.
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

// outcomeOf says what came of an operation that would else have come to success.
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

// errAbandoned is why an operation ends that nobody has ended.
var errAbandoned = errors.New("the outcome was never heard of")

// requestNames are those of the spans of requests. They are needed often.
var requestNames = func() (names [env.Ops][env.MaxNodes + 1]string) {
	for op := range names {
		for node := range names[op] {
			names[op][node] = env.Op(op).String() + " node " + strconv.Itoa(node)
		}
	}
	return names
}()
