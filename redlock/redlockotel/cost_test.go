package redlockotel_test

import (
	"context"
	"testing"

	metricnoop "go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock/redlockotel"
)

// A program that has set no provider pays little for a lock and its release over five
// nodes.
func TestNoopProvidersCostLittle(t *testing.T) {
	telemetry, err := redlockotel.New(env.System(), redlockotel.Options{TracerProvider: tracenoop.NewTracerProvider(), MeterProvider: metricnoop.NewMeterProvider()})
	if err != nil {
		t.Fatal(err)
	}
	nodes, o := telemetry.Nodes(yielding(5)), telemetry.Observer(nil)
	ask := func(op env.Op) {
		round := nodes.Send(env.AllNodes(5), env.Command{Op: op, Token: "0123456789"}, 0)
		for range 5 {
			_, _ = round.Next(context.Background(), 0)
		}
	}
	allocations := testing.AllocsPerRun(100, func() {
		o.Observe(env.Event{Step: env.StepAcquire, Token: "0123456789"})
		ask(env.OpSet)
		o.Observe(env.Event{Step: env.StepGranted, Token: "0123456789"})
		o.Observe(env.Event{Step: env.StepBeforeRelease, Token: "0123456789"})
		ask(env.OpDelete)
		o.Observe(env.Event{Step: env.StepReleased, Token: "0123456789"})
	})
	if allocations > 40 {
		t.Errorf("%v allocations", allocations)
	}
	t.Log(allocations)
}
