package redlockotel_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"go.opentelemetry.io/otel/metric/noop"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redlockotel"
)

// The trace of one grant over five nodes, of which node 5 is dead and node 4 answers 20 ms
// later than the others: when each span began and ended, what came of it, the events
// within, and ! where there is an error. The lock has what it needs from nodes 1 to 3,
// and what the others answer is seen where it belongs, though that is over. The world is
// simulated, so that the times are always the same.
func Example_trace() {
	world, err := sim.Open(context.Background(), nemesis.Setting{
		Nodes: 5, Clients: 1, Persistence: nemesis.Nothing, Horizon: time.Minute,
		Latency: nemesis.Distribution{Range: nemesis.Range{Min: ms, Max: ms}}, // each way
		Plan:    nemesis.Plan{slow(4, 10*ms), crash(5, 0, nil)},
	}, 1, new(history.Log))
	if err != nil {
		log.Fatal(err)
	}
	recorder := tracetest.NewSpanRecorder()
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder))
	runtime := world.Runtime(1)
	telemetry, err := redlockotel.New(runtime, redlockotel.Options{TracerProvider: provider, MeterProvider: noop.NewMeterProvider()})
	if err != nil {
		log.Fatal(err)
	}

	now := func() trace.SpanEventOption { return trace.WithTimestamp(time.Unix(0, int64(runtime.Now(env.Wall)))) }
	err = world.Run(context.Background(), func(int) {
		mutex, err := redlock.New(redlock.Defaults(10*time.Second), runtime, telemetry.Nodes(world.Nodes(1)), telemetry.Observer(nil))
		if err != nil {
			log.Fatal(err)
		}
		ctx, span := provider.Tracer("shop").Start(context.Background(), "send invoice", now())
		hold, err := telemetry.Lock(ctx, mutex, "invoice-7")
		if err != nil {
			log.Fatal(err)
		}
		_ = runtime.Sleep(ctx, runtime.Now(env.Monotonic).Add(30*ms)) // the work
		_ = hold.Extend(ctx, 20*time.Second)
		_ = hold.Release(ctx)
		span.End(now())
		_ = mutex.Close(context.Background())
	})
	if err != nil {
		log.Fatal(err)
	}
	telemetry.Close()

	fmt.Print(tree(recorder.Ended()))
	// Output:
	// send invoice [0s..36ms]
	//   redlock lock [0s..2ms] granted tries=1
	//     redlock acquire [0s..2ms] granted quorum@2ms
	//       set node 1 [0s..2ms] yes
	//       set node 2 [0s..2ms] yes
	//       set node 3 [0s..2ms] yes
	//       set node 5 [0s..2ms] failed late !
	//       set node 4 [0s..22ms] yes late
	//   redlock hold [2ms..34ms] released
	//     redlock extend [32ms..34ms] extended
	//       extend node 1 [32ms..34ms] yes
	//       extend node 2 [32ms..34ms] yes
	//       extend node 3 [32ms..34ms] yes
	//       extend node 5 [32ms..34ms] failed late !
	//       extend node 4 [32ms..54ms] yes late
	//   redlock release [34ms..36ms] released
	//     delete node 1 [34ms..36ms] yes
	//     delete node 2 [34ms..36ms] yes
	//     delete node 3 [34ms..36ms] yes
	//     delete node 5 [34ms..36ms] failed late !
	//     delete node 4 [34ms..56ms] yes late
}
