package redlockotel

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockstorm/lockstorm/env"
)

// scope names what the spans and the measurements were made by.
const scope = "github.com/lockstorm/lockstorm/redlock/redlockotel"

// Options are where the telemetry goes. The zero value is right for a program that
// has set the global providers of package otel, before or after.
type Options struct {
	// TracerProvider and MeterProvider make spans and instruments; nil means the
	// global one. Those of their noop packages switch one of the two off.
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider

	// Class, if it is not nil, says of what kind a resource is, such as "invoice" of
	// "invoice-7". Measurements then bear it, so there must be few. It is called on
	// the goroutine that uses the lock, by several at once, and must return soon.
	Class func(resource string) string
}

// Telemetry makes spans and measurements of what one or more mutexes do. It is safe
// for concurrent use.
type Telemetry struct {
	runtime     env.Runtime
	tracer      trace.Tracer
	instruments *instruments
	nobody      *try // for whom requests are sent that are no try's, or one's that is forgotten

	mu     sync.Mutex // never held while a provider is called
	tries  map[string]*try
	over   queue // those of them that are over, the oldest first
	closed bool
}

// New returns telemetry for mutexes of the runtime, which is [env.System] in
// production and may not be nil. The error is that of a meter that refuses an
// instrument.
func New(runtime env.Runtime, o Options) (*Telemetry, error) {
	if runtime == nil {
		return nil, errors.New("redlockotel: no runtime")
	}
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	i, err := newInstruments(o.MeterProvider.Meter(scope), o.Class)
	if err != nil {
		return nil, err
	}
	t := &Telemetry{runtime: runtime, tracer: o.TracerProvider.Tracer(scope), instruments: i, tries: map[string]*try{}}
	t.nobody = &try{telemetry: t}
	t.nobody.acquire = &operation{try: t.nobody, ctx: context.Background(), over: true}
	return t, nil
}

// Close ends the spans that are still open, with the outcome abandoned, and makes no
// more, but for requests that are under way. Close the mutexes first: then nothing is
// open any more, unless somebody's fence source has panicked. Close the providers
// afterwards. A second Close does nothing.
func (t *Telemetry) Close() {
	t.mu.Lock()
	tries := t.tries
	t.tries, t.over, t.closed = nil, queue{}, true
	t.mu.Unlock()
	for _, one := range tries {
		one.abandon()
	}
}

// timeline turns readings of the clock by which spans last into times of day, as it
// was when the timeline began: no step of the time of day bends it.
type timeline struct {
	wall, began env.Instant // the same moment, on env.Wall and on env.Boottime
}

func (t *Telemetry) timeline() timeline {
	return timeline{wall: t.runtime.Now(env.Wall), began: t.elapsed()}
}

// elapsed reads the clock by which spans last: it counts suspension.
func (t *Telemetry) elapsed() env.Instant { return t.runtime.Now(env.Boottime) }

// at is the time of a reading.
func (l timeline) at(reading env.Instant) time.Time {
	return time.Unix(0, int64(l.wall)).Add(reading.Sub(l.began))
}
