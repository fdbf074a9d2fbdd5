package redlockotel_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"go.opentelemetry.io/otel/sdk/metric"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
	"github.com/lockstorm/lockstorm/redlock/redlockotel"
)

// Many goroutines lock, extend and release on nodes over the network, and the mutex is
// closed while some of them hold.
func TestOnGoroutines(t *testing.T) {
	var addrs []string
	for range 3 {
		addrs = append(addrs, miniredis.RunT(t).Addr())
	}
	nodes, err := redisnode.New(addrs, redisnode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer nodes.Close()
	recorder, reader := tracetest.NewSpanRecorder(), metric.NewManualReader()
	telemetry, err := redlockotel.New(env.System(), redlockotel.Options{
		TracerProvider: sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder)),
		MeterProvider:  metric.NewMeterProvider(metric.WithReader(reader)),
	})
	if err != nil {
		t.Fatal(err)
	}
	c := redlock.Defaults(10 * time.Second)
	c.RetryMin, c.RetryMax, c.NodeTimeout = 0, time.Millisecond, time.Second
	c.Watchdog.Every = time.Millisecond
	m, err := redlock.New(c, env.System(), telemetry.Nodes(nodes), telemetry.Observer(nil))
	if err != nil {
		t.Fatal(err)
	}
	take := func(resource string) *redlock.Hold {
		h, err := telemetry.Lock(context.Background(), m, resource)
		if err != nil {
			t.Error(err)
			return nil
		}
		_ = h.Extend(context.Background(), c.TTL) // the watchdog may be at it
		return h
	}
	var all sync.WaitGroup
	for client := range 6 {
		all.Go(func() {
			for i := range 10 {
				if h := take(fmt.Sprint("shared-", i%2)); h != nil {
					_ = h.Release(context.Background())
				}
			}
			take(fmt.Sprint("kept-", client))
		})
	}
	all.Wait()
	if err := m.Close(context.Background()); err != nil {
		t.Error(err)
	}
	wantAllEnded(t, recorder)
	if held := measured(t, reader)["redlock.hold.active{}"]; held != 0 {
		t.Errorf("%d are held", held)
	}
}
