package sim

import (
	"context"
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

// Where somebody may go on after the horizon, or nobody should, the run ends by
// itself.
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
