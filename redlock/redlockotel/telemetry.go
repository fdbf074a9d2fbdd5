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

// scope is the name of the instrumentation.
const scope = "github.com/lockstorm/lockstorm/redlock/redlockotel"

// Options configure a [Telemetry]. The zero value uses the global providers of package otel,
// which may be set before or after.
type Options struct {
	// TracerProvider and MeterProvider make spans and instruments; nil means the global ones.
	// The providers of their noop packages switch traces or metrics off.
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider

	// Class, unless nil, returns the class of a resource, such as "invoice" for "invoice-7",
	// which becomes an attribute of measurements: there must be few classes. It is called on
	// the goroutines that use the lock, also concurrently, and must return quickly.
	Class func(resource string) string
}

// Telemetry makes spans and measurements for one or more mutexes. It is safe for concurrent
// use.
type Telemetry struct {
	runtime     env.Runtime
	tracer      trace.Tracer
	instruments *instruments
	nobody      *try // stands for requests of no try, or of a forgotten one

	mu     sync.Mutex // never held while a provider is called
	tries  map[string]*try
	over   queue // the tries that have ended, the oldest first
	closed bool
}

// New returns telemetry for mutexes of the runtime, which is [env.System] in
// production and must not be nil. It returns an error if the meter rejects an instrument.
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

// Close ends the open spans with the outcome abandoned, and makes no more, except for requests
// under way. Close the mutexes first: then no span is open, unless a fence source has
// panicked. Close the providers afterwards. A second Close does nothing.
func (t *Telemetry) Close() {
	t.mu.Lock()
	tries := t.tries
	t.tries, t.over, t.closed = nil, queue{}, true
	t.mu.Unlock()
	for _, one := range tries {
		one.abandon()
	}
}

// timeline converts readings of the clock that measures spans to times of day, from the time
// of day at its start. Later steps of the time of day do not affect it.
type timeline struct {
	wall, began env.Instant // the same moment, on env.Wall and on env.Boottime
}

func (t *Telemetry) timeline() timeline {
	return timeline{wall: t.runtime.Now(env.Wall), began: t.elapsed()}
}

// elapsed reads the clock that measures spans. It counts suspension.
func (t *Telemetry) elapsed() env.Instant { return t.runtime.Now(env.Boottime) }

// at returns the time of day of a reading.
func (l timeline) at(reading env.Instant) time.Time {
	return time.Unix(0, int64(l.wall)).Add(reading.Sub(l.began))
}
