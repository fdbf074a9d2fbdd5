package redlockotel_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/rivals"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redlockotel"
)

const ms = time.Millisecond

// origin is what the clocks of clients show when a simulated world begins.
var origin = time.Unix(1_600_000_000, 0)

// scene is a simulated world with nodes a millisecond away each, and what its clients
// tell OpenTelemetry.
type scene struct {
	*sim.World
	testing.TB
	recorder *tracetest.SpanRecorder
	provider *sdk.TracerProvider
	reader   *metric.ManualReader
	client   *redlockotel.Telemetry // of the one client

	sequential bool // the lock asks one node after another
}

// config has a validity of 1000 − 10 − 2 = 988 ms.
func config() redlock.Config {
	return redlock.Config{
		TTL: time.Second, DriftFactor: 0.01, NodeTimeout: 50 * ms, Linger: 200 * ms, Margin: 88 * ms,
		RetryMin: 5 * ms, RetryMax: 20 * ms,
	}
}

// setting is a world of so many nodes and one client.
func setting(nodes int, plan nemesis.Plan) nemesis.Setting {
	return nemesis.Setting{
		Nodes: nodes, Clients: 1, Persistence: nemesis.Nothing, Horizon: 20 * time.Second, Plan: plan,
		Latency: nemesis.Distribution{Range: nemesis.Range{Min: ms, Max: ms}},
	}
}

// open returns a scene whose client has not begun.
func open(t testing.TB, s nemesis.Setting) *scene {
	t.Helper()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	w, err := sim.Open(context.Background(), s, 1, new(history.Log))
	if err != nil {
		t.Fatal(err)
	}
	c := &scene{World: w, TB: t, recorder: tracetest.NewSpanRecorder(), reader: metric.NewManualReader()}
	c.provider = sdk.NewTracerProvider(sdk.WithSpanProcessor(c.recorder))
	c.client, err = redlockotel.New(w.Runtime(1), redlockotel.Options{
		TracerProvider: c.provider, MeterProvider: metric.NewMeterProvider(metric.WithReader(c.reader)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// reach tells a world of the steps of its client, for faults that wait for them.
type reach struct{ *sim.World }

func (r reach) Observe(e env.Event) { r.Reach(1, e.Step, e.K) }

// run has the client do something with its mutex.
func (c *scene) run(config redlock.Config, main func(*redlock.Mutex)) {
	c.Helper()
	err := c.Run(context.Background(), func(int) {
		nodes := c.client.Nodes(c.Nodes(1))
		if c.sequential {
			nodes = &rivals.Sequential{Nodes: nodes, Runtime: c.Runtime(1), Timeout: config.NodeTimeout}
			config.NodeTimeout *= time.Duration(nodes.Len())
		}
		m, err := redlock.New(config, c.Runtime(1), nodes, c.client.Observer(reach{c.World}))
		if err != nil {
			c.Error(err)
			return
		}
		main(m)
	})
	if err != nil {
		c.Error(err)
	}
}

// play runs main on five nodes under a plan.
func play(t testing.TB, plan nemesis.Plan, main func(*scene, *redlock.Mutex)) *scene {
	t.Helper()
	c := open(t, setting(5, plan))
	c.run(config(), func(m *redlock.Mutex) { main(c, m) })
	return c
}

func (c *scene) sleep(d time.Duration) {
	r := c.Runtime(1)
	_ = r.Sleep(context.Background(), r.Now(env.Monotonic).Add(d))
}

func (c *scene) lock(m *redlock.Mutex) *redlock.Hold {
	c.Helper()
	h, err := m.TryLock(context.Background(), "r")
	if err != nil {
		c.Error(err)
	}
	return h
}

// request begins a span of a caller.
func (c *scene) request(name string) (ctx context.Context, end func()) {
	now := func() trace.SpanEventOption {
		return trace.WithTimestamp(time.Unix(0, int64(c.Runtime(1).Now(env.Wall))))
	}
	ctx, span := c.provider.Tracer("test").Start(context.Background(), name, now())
	return ctx, func() { span.End(now()) }
}

// ok takes an error for a failure of the test.
func (c *scene) ok(err error) {
	c.Helper()
	if err != nil {
		c.Error(err)
	}
}

// tree returns the ended spans, indented, with times since the world began.
func (c *scene) tree() string { return tree(c.recorder.Ended()) }

// tree prints spans below what they hang on, in the order in which they begin.
func tree(all []sdk.ReadOnlySpan) string {
	known := map[trace.SpanID]bool{}
	for _, s := range all {
		known[s.SpanContext().SpanID()] = true
	}
	var text strings.Builder
	var below func(parent trace.SpanID, depth int)
	below = func(parent trace.SpanID, depth int) {
		var children []sdk.ReadOnlySpan
		for _, s := range all {
			is := s.Parent().SpanID() == parent
			if depth == 0 {
				is = !known[s.Parent().SpanID()]
			}
			if is {
				children = append(children, s)
			}
		}
		slices.SortStableFunc(children, func(a, b sdk.ReadOnlySpan) int { return a.StartTime().Compare(b.StartTime()) })
		for _, s := range children {
			fmt.Fprintf(&text, "%s%s\n", strings.Repeat("  ", depth), line(s))
			below(s.SpanContext().SpanID(), depth+1)
		}
	}
	below(trace.SpanID{}, 0)
	return text.String()
}

// line tells a span: when it began and ended, what came of it, events, status, links.
func line(s sdk.ReadOnlySpan) string {
	since := func(t time.Time) time.Duration { return t.Sub(origin) }
	text := fmt.Sprintf("%s [%v..%v]", s.Name(), since(s.StartTime()), since(s.EndTime()))
	for _, a := range s.Attributes() {
		switch a.Key {
		case "redlock.outcome", "redlock.answer":
			text += " " + a.Value.String()
		case "redlock.late":
			text += " late"
		case "redlock.tries":
			text += fmt.Sprintf(" tries=%d", a.Value.AsInt64())
		}
	}
	for _, e := range s.Events() {
		text += fmt.Sprintf(" %s@%v", e.Name, since(e.Time))
	}
	if s.Status().Code == codes.Error {
		text += " !"
	}
	if len(s.Links()) > 0 {
		text += " linked"
	}
	return text
}

// wantAllEnded checks that no span is left open.
func wantAllEnded(t failing, r *tracetest.SpanRecorder) {
	t.Helper()
	if begun, ended := len(r.Started()), len(r.Ended()); begun != ended {
		t.Errorf("%d spans have begun and %d ended:\n%s", begun, ended, tree(r.Ended()))
	}
}

// measured returns each series as name{attributes}: of a histogram the count, of a sum
// the sum.
func (c *scene) measured() map[string]int64 { return measured(c, c.reader) }

func measured(t testing.TB, reader metric.Reader) map[string]int64 {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &data); err != nil {
		t.Fatal(err)
	}
	series := map[string]int64{}
	add := func(name string, set attribute.Set, n int64) {
		series[name+"{"+set.Encoded(attribute.DefaultEncoder())+"}"] = n
	}
	for _, s := range data.ScopeMetrics {
		for _, m := range s.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					add(m.Name, p.Attributes, int64(p.Count))
				}
			case metricdata.Histogram[int64]:
				for _, p := range d.DataPoints {
					add(m.Name, p.Attributes, p.Sum)
				}
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					add(m.Name, p.Attributes, p.Value)
				}
			default:
				t.Errorf("%s is a %T", m.Name, d)
			}
		}
	}
	return series
}

// failing is a test, or one trial of a law.
type failing interface {
	Helper()
	Errorf(format string, args ...any)
}
