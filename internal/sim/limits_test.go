package sim

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// In a world in which nothing takes time, what spins comes to an end as well,
// with a reason that says where and why.
func TestTimeThatStandsStill(t *testing.T) {
	noTime := setting(2, 1)
	noTime.Latency = nemesis.Distribution{}
	spins := map[string]struct {
		spin func(*World)
		want string
	}{
		"messages": {func(w *World) {
			for {
				ask(w, 1, 1, set, time.Second)
			}
		}, "client 1, main: runs"},
		"tasks": {func(w *World) {
			for {
				_ = w.Runtime(1).Go("beside", func() {}).Wait(context.Background())
			}
		}, "client 1, main: runs"},
		"a look at the clock": {func(w *World) {
			for w.Runtime(1).Now(env.Monotonic) < env.Instant(time.Second) {
			}
		}, "client 1, main: runs"},
		"a sleep until now": {func(w *World) {
			for {
				sleep(w, 1, 0)
			}
		}, "client 1, main: runs"},
	}
	for name, c := range spins {
		reason := endReason(t, play(t, noTime, func(w *World) {
			sleep(w, 1, 5*ms)
			c.spin(w)
		}, func(w *World) { sleep(w, 2, time.Second) }))
		for _, want := range []string{"no progress: time does not move: client 1 spins at 5ms, with more than 12000 calls at this instant", c.want, "client 2, main: waits for the time to pass until 1s"} {
			if !strings.Contains(reason, want) {
				t.Errorf("%s: the reason does not say %q: %v", name, want, reason)
			}
		}
	}
}

// waitForever asks node 1 and has no time limit, in a task that main waits for.
func waitForever(w *World) {
	_ = w.Runtime(1).Go("reader", func() {
		_, _ = w.Nodes(1).Send(1, set, env.Never).Next(context.Background(), env.Never)
	}).Wait(context.Background())
}

// cutOff cuts client 1 off from node 1 until the end, if it has one.
func cutOff(end *nemesis.Trigger) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: []int{1}}}, Start: nemesis.At(0), End: end}
}

func returns(*World) {}

// A world in which nobody waits for anything that can come ends with a reason
// that says so, at its horizon.
func TestNobodyCanGoOn(t *testing.T) {
	pause := nemesis.Fault{Action: &nemesis.Pause{Client: 2}, Start: nemesis.At(3 * ms)}
	kill := nemesis.Fault{Action: &nemesis.Kill{Client: 2}, Start: nemesis.At(3 * ms)}
	const waits = "client 1, main: waits for a task; client 1, reader: waits for a reply"
	for name, c := range map[string]struct {
		plan  nemesis.Plan
		other func(*World)
		want  string
	}{
		"alone":            {nemesis.Plan{cutOff(nil)}, returns, "no progress: nothing happens after 1ms any more: " + waits},
		"another has done": {nemesis.Plan{cutOff(nil)}, func(w *World) { sleep(w, 2, 5*ms) }, "no progress: nothing happens after 5ms any more: " + waits},
		"another is paused": {nemesis.Plan{cutOff(nil), pause}, func(w *World) { sleep(w, 2, 5*ms) },
			"no progress: nothing happens after 5ms any more: " + waits + "; client 2, main: is paused"},
		"another is dead": {nemesis.Plan{cutOff(nil), kill}, func(w *World) { sleep(w, 2, 5*ms) }, "no progress: nothing happens after 5ms any more: " + waits},
	} {
		s := setting(2, 1, c.plan...)
		log := play(t, s, waitForever, c.other)
		expect(t, name, endReason(t, log), c.want)
		if end := log[len(log)-1]; end.Time != history.Time(s.Horizon) {
			t.Errorf("%s: the run ends at %v", name, end.Time)
		}
	}
}

// The run ends by itself, whether or not some client could go on after the horizon.
func TestHorizonIsNoDeadlock(t *testing.T) {
	sleeps := func(w *World) { sleep(w, 2, time.Hour) }
	late := nemesis.At(time.Minute)
	for name, c := range map[string]struct {
		plan  nemesis.Plan
		first func(*World)
		other func(*World)
	}{
		"another waits for a time":      {nemesis.Plan{cutOff(nil)}, waitForever, sleeps},
		"the link is mended later":      {nemesis.Plan{cutOff(&late)}, waitForever, returns},
		"the message comes later":       {nemesis.Plan{{Action: &nemesis.Latency{Add: nemesis.Distribution{Range: nemesis.Range{Min: time.Minute, Max: time.Minute}}}}}, waitForever, returns},
		"paused for ever":               {nemesis.Plan{cutOff(nil), {Action: &nemesis.Pause{Client: 1}, Start: nemesis.At(2 * ms)}}, waitForever, returns},
		"paused in the middle of sleep": {nemesis.Plan{{Action: &nemesis.Pause{Client: 1}, Start: nemesis.At(2 * ms)}}, func(w *World) { sleep(w, 1, 5*ms) }, returns},
		"dead":                          {nemesis.Plan{cutOff(nil), {Action: &nemesis.Kill{Client: 1}, Start: nemesis.At(2 * ms)}}, waitForever, returns},
		"the power comes back later":    {nemesis.Plan{{Action: &nemesis.PowerLoss{Node: 1, RestartDelay: time.Minute}}}, waitForever, returns},
		"the answer comes":              {nil, waitForever, returns},
	} {
		expect(t, name, endReason(t, play(t, setting(2, 1, c.plan...), c.first, c.other)), "")
	}
}

// A clock that is moved again and again makes nobody go on who waits for no time.
func TestClocksHideNoDeadlock(t *testing.T) {
	for _, m := range []nemesis.Machine{client1, node1} {
		strobe := nemesis.Fault{Action: &nemesis.ClockStrobe{Machine: m, By: ms, Period: ms}, Start: nemesis.At(0)}
		reason := endReason(t, play(t, setting(1, 1, cutOff(nil), strobe), waitForever))
		if !strings.HasPrefix(reason, "no progress: nothing happens") {
			t.Errorf("%+v: %q", m, reason)
		}
	}
}

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
	log, err := tryPlay(setting(1, 1), func(*World) { panic("oh") })
	if err == nil || !strings.Contains(err.Error(), "client 1, main: panic: oh") {
		t.Errorf("got %v", err)
	}
	expect(t, "reason", endReason(t, log), "client 1, main: panic: oh")
}
