package redlockotel_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/alicebob/miniredis/v2"
	"go.opentelemetry.io/otel/metric/noop"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
	"github.com/lockstorm/lockstorm/redlock/redlockotel"
)

// A program makes one telemetry beside its mutex, puts it between the mutex and the
// nodes, and closes what it has made in the opposite order. Spans go to an exporter in
// memory here.
func Example() {
	exporter := tracetest.NewInMemoryExporter() // such as otlptracegrpc.New(ctx)
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter))
	telemetry, err := redlockotel.New(env.System(), redlockotel.Options{TracerProvider: provider, MeterProvider: noop.NewMeterProvider()})
	if err != nil {
		log.Fatal(err)
	}
	nodes, err := redisnode.New(masters(3), redisnode.Options{})
	if err != nil {
		log.Fatal(err)
	}
	config := redlock.Defaults(10 * time.Second)
	config.NodeTimeout = 10 * time.Second // what this prints must not hang on how busy the machine is
	mutex, err := redlock.New(config, env.System(), telemetry.Nodes(nodes), telemetry.Observer(nil))
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	hold, err := telemetry.Lock(ctx, mutex, "invoice-7")
	if err != nil {
		log.Fatal(err)
	}
	_ = hold.Release(ctx)

	_ = mutex.Close(ctx)
	_ = nodes.Close()
	telemetry.Close()
	_ = provider.ForceFlush(ctx)
	var names []string
	for _, span := range exporter.GetSpans() {
		names = append(names, span.Name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) { // a key that is set late is deleted twice
		fmt.Println(name)
	}
	// Output:
	// delete node 1
	// delete node 2
	// delete node 3
	// redlock acquire
	// redlock hold
	// redlock lock
	// redlock release
	// set node 1
	// set node 2
	// set node 3
}

// masters starts Redis servers that live in the process, and as long as it does.
func masters(n int) (addrs []string) {
	for range n {
		server, err := miniredis.Run()
		if err != nil {
			log.Fatal(err)
		}
		addrs = append(addrs, server.Addr())
	}
	return addrs
}
