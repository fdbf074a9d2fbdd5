package sim

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

func cancel(at time.Duration) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Cancel{Client: 1}, Start: nemesis.At(at)}
}

// Whatever a call waits for, it sees its end at the instant of the fault,
// whether it waits itself or a task does so for it.
func TestCancelWakesWhoeverWaits(t *testing.T) {
	waits := map[string]func(w *World, ctx context.Context) error{
		"time": func(w *World, ctx context.Context) error { return w.Runtime(1).Sleep(ctx, env.Never) },
		"a reply": func(w *World, ctx context.Context) error {
			_, err := w.Nodes(1).Send(1, set, env.Never).Next(ctx, env.Never)
			return err
		},
		"a task": func(w *World, ctx context.Context) error {
			return w.Runtime(1).Go("sleeper", func() { sleep(w, 1, time.Second) }).Wait(ctx)
		},
		"the resource": func(w *World, ctx context.Context) error {
			_, err := w.Register(1).Read(ctx, env.Access{Resource: "r"})
			return err
		},
		"a task that waits for time": func(w *World, ctx context.Context) (err error) {
			sleeper := w.Runtime(1).Go("sleeper", func() { err = w.Runtime(1).Sleep(ctx, env.Never) })
			_ = sleeper.Wait(context.Background())
			return err
		},
	}
	for name, wait := range waits {
		s := setting(1, 1, cancel(5*ms))
		s.Latency.Range = nemesis.Range{Min: 20 * ms, Max: 20 * ms}
		log := play(t, s, func(w *World) {
			ctx, returned := w.Call(context.Background(), 1)
			defer returned()
			err := wait(w, ctx)
			if now := w.Runtime(1).Now(env.Monotonic); !errors.Is(err, context.Canceled) || now != env.Instant(5*ms) {
				t.Errorf("%s: %v at %v", name, err, time.Duration(now))
			}
		})
		expect(t, name, kinds(log), "fault-start@5ms cancel@5ms end@5ms")
	}
}
