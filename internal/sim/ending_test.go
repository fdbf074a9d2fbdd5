package sim

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// endReason returns the reason in the event that closes the history.
func endReason(t *testing.T, log history.Log) string {
	t.Helper()
	if len(log) == 0 || log[len(log)-1].Kind != history.End {
		t.Fatalf("the history has no end: %s", kinds(log))
	}
	return log[len(log)-1].Reason
}

// busy asks the nodes for ever, with a task beside and something to do on its
// way out.
func busy(client int) func(*World) {
	return func(w *World) {
		nodes := env.AllNodes(w.Nodes(client).Len())
		defer ask(w, client, nodes, set, time.Second)
		w.Watch(client, env.Monotonic, "r", "a", w.Runtime(client).Now(env.Monotonic).Add(time.Hour))
		defer w.Unwatch(client, "a")
		w.Runtime(client).Go("beside", func() { sleep(w, client, time.Hour) })
		for {
			ask(w, client, nodes, set, time.Second)
		}
	}
}

// noMoreGoroutines calls f and checks that it leaves none.
func noMoreGoroutines(t *testing.T, f func()) {
	t.Helper()
	before := runtime.NumGoroutine()
	f()
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

func TestRunThatEndsByItselfHasNoReason(t *testing.T) {
	for name, main := range map[string]func(*World){"all returned": func(*World) {}, "horizon": busy(1)} {
		if got := endReason(t, play(t, setting(1, 1), main)); got != "" {
			t.Errorf("%s: ended with %q", name, got)
		}
	}
}

// A world that is cut at any instant leaves no coroutine behind, and nothing
// that unwinding does gets into the history.
func TestCutAnywhereLeavesNothing(t *testing.T) {
	noMoreGoroutines(t, func() {
		for cut := range 40 {
			s := setting(3, 3)
			s.Horizon = time.Duration(cut+1) * ms / 2
			log := play(t, s, busy(1), busy(2), busy(3))
			if last := log[len(log)-1]; last.Kind != history.End || last.Time != history.Time(s.Horizon) {
				t.Errorf("cut at %v, the history ends with %s at %v", s.Horizon, last.Kind, last.Time)
			}
		}
	})
}

// A caller that gives up in the middle leaves a history that says so, and
// nothing else.
func TestCutByContext(t *testing.T) {
	noMoreGoroutines(t, func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		s := setting(3, 3)
		s.Horizon = time.Hour
		var log history.Log
		w, err := Open(ctx, s, 1, &log)
		if err != nil {
			t.Fatal(err)
		}
		mains := []func(*World){busy(1), busy(2), func(w *World) {
			sleep(w, 3, time.Second)
			cancel()
			busy(3)(w)
		}}
		err = w.Run(ctx, func(client int) { mains[client-1](w) })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		expect(t, "reason", endReason(t, log), "stopped: context canceled")
		if at := log[len(log)-1].Time; at < history.Time(time.Second) || at >= history.Time(s.Horizon) {
			t.Errorf("the run ended at %v", at)
		}
	})
}

// A plan that cannot be carried out ends the run; no other client goes on.
func TestCutByAFaultThatFails(t *testing.T) {
	noMoreGoroutines(t, func() {
		crash := func(start nemesis.Trigger) nemesis.Fault {
			return nemesis.Fault{Action: &nemesis.Crash{Node: 1}, Start: start, End: nemesis.After(time.Second)}
		}
		s := setting(3, 3, crash(nemesis.At(10*ms)), crash(nemesis.When(3, env.StepGranted, 0)))
		log, err := tryPlay(s, busy(1), busy(2), func(w *World) {
			sleep(w, 3, 20*ms)
			w.Reach(3, env.StepGranted, 0)
			t.Error("the client went on")
		})
		const want = "fault 2 (node 1 crashes) begins while fault 1 still holds the server of node 1"
		if err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
		expect(t, "reason", endReason(t, log), want)
		expect(t, "faults", kinds(log, history.FaultStart, history.FaultEnd, history.End), "fault-start@10ms end@20ms")
	})
}

func TestReasonOfAPanicIsOneLine(t *testing.T) {
	log, _ := tryPlay(setting(1, 1), func(*World) { panic("oh") })
	expect(t, "reason", endReason(t, log), "client 1, main: panic: oh")
}
