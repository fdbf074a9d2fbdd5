package redlockotel_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redlockotel"
)

// yielding are nodes that answer at once, with yes, so that nothing is measured but the
// lock and what listens to it.
type yielding int

func (y yielding) Len() int { return int(y) }

func (y yielding) Send(to env.NodeSet, _ env.Command, _ env.Instant) env.Round {
	return &yes{to}
}

type yes struct{ left env.NodeSet }

func (y *yes) Next(context.Context, env.Instant) (env.Reply, error) {
	node := y.left.First()
	if node == 0 {
		return env.Reply{}, env.ErrRoundOver
	}
	y.left = y.left.Without(node)
	return env.Reply{Node: node, Answer: env.Yes}, nil
}

// BenchmarkCycle is an acquisition and its release over five nodes, with everything
// that is done in the background.
func BenchmarkCycle(b *testing.B) {
	metrics := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	for _, c := range []struct {
		name   string
		tracer trace.TracerProvider
		meter  metric.MeterProvider
	}{
		{"alone", nil, nil},
		{"noop", tracenoop.NewTracerProvider(), metricnoop.NewMeterProvider()},
		{"not-sampled", sdk.NewTracerProvider(sdk.WithSampler(sdk.NeverSample())), metricnoop.NewMeterProvider()},
		{"metrics", tracenoop.NewTracerProvider(), metrics},
		{"traces", sdk.NewTracerProvider(), metricnoop.NewMeterProvider()},
		{"both", sdk.NewTracerProvider(), metrics},
	} {
		b.Run(c.name, func(b *testing.B) {
			nodes, observer := env.Nodes(yielding(5)), env.Observer(nil)
			if c.tracer != nil {
				telemetry, err := redlockotel.New(env.System(), redlockotel.Options{TracerProvider: c.tracer, MeterProvider: c.meter})
				if err != nil {
					b.Fatal(err)
				}
				nodes, observer = telemetry.Nodes(nodes), telemetry.Observer(nil)
			}
			m, err := redlock.New(config(), env.System(), nodes, observer)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				h, err := m.TryLock(context.Background(), "r")
				if err != nil {
					b.Fatal(err)
				}
				if err := h.Release(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			if err := m.Close(context.Background()); err != nil {
				b.Fatal(err)
			}
		})
	}
}
