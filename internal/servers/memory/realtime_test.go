package memory

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Outside of a bubble time is real, and nothing is left behind either.
func TestWorldInRealTime(t *testing.T) {
	const ttl, down = 50 * time.Millisecond, 20 * time.Millisecond
	before := runtime.NumGoroutine()
	s := nemesis.Setting{
		Nodes: 3, Clients: 1, Persistence: nemesis.Always, Horizon: patience,
		Plan: nemesis.Plan{{Action: &nemesis.Crash{Node: 2}, Start: nemesis.When(1, begin, 0), End: nemesis.After(down)}},
	}
	world, err := Backend{}.Open(t.Context(), s, 1, new(history.Log))
	if err != nil {
		t.Fatal(err)
	}
	w := &trial{t: t, World: world}
	if err := w.Run(t.Context(), func(client int) {
		began, cmd := time.Now(), set("a")
		cmd.TTL = ttl
		w.wantAnswers("at first", cmd, env.Yes, env.Yes, env.Yes)
		w.Reach(1, begin, 0)
		for {
			answers, _ := w.ask(1, env.Command{Op: env.OpGet, Key: "key"}, patience)
			if answers[0] == env.No && answers[1] == env.No && answers[2] == env.No {
				break
			}
			w.sleep(1, time.Millisecond)
		}
		if lived := time.Since(began); lived < ttl || lived < down {
			t.Errorf("keys were gone, and the node back, after %v", lived)
		}
	}); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	for late := time.Now().Add(patience); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// A context that has ended opens nothing.
func TestOpenHeedsItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if w, err := (Backend{}).Open(ctx, nemesis.Setting{Nodes: 1, Clients: 1}, 1, new(history.Log)); err == nil || w != nil {
		t.Errorf("%v, %v", w, err)
	}
}
