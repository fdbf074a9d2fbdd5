//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Each fault of a server and its effect on a key: the replies to a SET with another token
// before, during and after the fault.
func TestWhatHappensToServers(t *testing.T) {
	for name, c := range map[string]struct {
		action        nemesis.Action
		momentary     bool
		persistence   nemesis.Persistence
		during, after env.Answer
	}{
		"shutdown, nothing kept": {&nemesis.Shutdown{Node: 1}, false, nemesis.Nothing, isDown, env.Yes},
		"shutdown, all kept":     {&nemesis.Shutdown{Node: 1}, false, nemesis.EverySecond, isDown, env.No},
		"stands still":           {&nemesis.NodePause{Node: 1}, false, nemesis.Nothing, env.Lost, env.No},
		"evicts":                 {&nemesis.Evict{Node: 1}, true, nemesis.Nothing, env.Yes, env.No},
		"evicts what it has":     {&nemesis.Evict{Node: 1, Policy: nemesis.AllKeys}, true, nemesis.Nothing, env.Yes, env.No},
		"evicts the key":         {&nemesis.Evict{Node: 1, Resource: "key"}, true, nemesis.Nothing, env.Yes, env.No},
		"evicts another key":     {&nemesis.Evict{Node: 1, Resource: "another"}, true, nemesis.Nothing, env.No, env.No},
		"flushes its scripts":    {&nemesis.ScriptFlush{Node: 1}, true, nemesis.Nothing, env.No, env.No},
		"is out of memory":       {&nemesis.NodeError{Nodes: []int{1}, Error: nemesis.OOM}, false, nemesis.Nothing, env.Failed, env.No},
		"is read only":           {&nemesis.NodeError{Error: nemesis.ReadOnly}, false, nemesis.Nothing, env.Failed, env.No},
	} {
		t.Run(name, func(t *testing.T) {
			plan := between(nemesis.Fault{Action: c.action})
			if c.momentary {
				plan[0].End = nil
			}
			w := newTestWorld(t, nemesis.Setting{Persistence: c.persistence, Plan: plan})
			w.mustRun(func(int) {
				w.wantAnswers("at first", w.ask(1, env.OpSet, "a", patience), env.Yes)
				w.Reach(1, begin, 0)
				if c.during == env.Lost {
					w.wantAnswers("during the fault", []env.Answer{w.askBriefly(1, 1, env.OpSet, "b")}, env.Lost)
				} else {
					w.wantAnswers("during the fault", w.ask(1, env.OpSet, "b", patience), c.during)
				}
				w.Reach(1, end, 0)
				w.wantAnswers("after it", w.ask(1, env.OpSet, "c", patience), c.after)
			})
		})
	}
}

// A server that is down has nothing to evict, and the plan does not fail.
func TestCommandsToAServerThatIsDown(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{Plan: nemesis.Plan{
		{Action: &nemesis.Crash{Node: 1}, Start: nemesis.When(1, begin, 0)},
		{Action: &nemesis.Evict{Node: 1}, Start: nemesis.When(1, end, 0)},
	}})
	w.mustRun(func(int) {
		w.Reach(1, begin, 0)
		w.Reach(1, end, 0)
	})
}

// A machine restarts its server by its own clock: a jump brings it back at once.
func TestRestartGoesByTheClockOfTheNode(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{Plan: nemesis.Plan{
		{Action: &nemesis.Crash{Node: 1, RestartDelay: slack}, Start: nemesis.When(1, begin, 0)},
		{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 1}, By: slack}, Start: nemesis.When(1, end, 0)},
	}})
	w.mustRun(func(int) {
		w.wantAnswers("at first", w.ask(1, env.OpSet, "a", patience), env.Yes)
		w.Reach(1, begin, 0)
		w.sleep(1, 50*time.Millisecond)
		w.wantAnswers("too early", w.ask(1, env.OpSet, "b", patience), isDown)
		w.Reach(1, end, 0)
		for last := time.Now().Add(patience); w.ask(1, env.OpSet, "c", patience)[0] != env.Yes; w.sleep(1, time.Millisecond) {
			if time.Now().After(last) {
				t.Fatal("it does not come back")
			}
		}
	})
}

// set sets a key for an hour on node 1 as client 1.
func (w *testWorld) set(key string) env.Answer {
	r := w.Nodes(1).Send(1, env.Command{Op: env.OpSet, Key: key, Token: "a", TTL: time.Hour}, w.Runtime(1).Now(env.Monotonic).Add(patience))
	reply, _ := r.Next(context.Background(), env.Never)
	return reply.Answer
}

// wantSet retries until there is a reply: the first request may find an old connection
// broken.
func (w *testWorld) wantSet(key string, want env.Answer) {
	w.t.Helper()
	got := w.set(key)
	for last := time.Now().Add(patience); got != env.Yes && got != env.No && time.Now().Before(last); got = w.set(key) {
		w.sleep(1, time.Millisecond)
	}
	if got != want {
		w.t.Errorf("%s: %v, want %v", key, got, want)
	}
}

// A restored machine has the keys of its snapshot and the same run id. Requests sent
// meanwhile are lost with their connections.
func TestRestoredMachine(t *testing.T) {
	for _, clock := range []nemesis.GuestClock{nemesis.ClockSynced, nemesis.ClockRestored} {
		t.Run(string(clock), func(t *testing.T) {
			slower(t, func(age time.Duration) error { return isRestored(t, clock, age) })
		})
	}
}

// isRestored restores a machine to a state of that age, within which it has to be used once more.
func isRestored(t *testing.T, clock nemesis.GuestClock, age time.Duration) (late error) {
	w := newTestWorld(t, nemesis.Setting{Plan: between(nemesis.Fault{Action: &nemesis.VMRestore{Node: 1, Age: age, Clock: clock}})})
	run := func() string {
		r := w.Nodes(1).Send(1, env.Command{Op: env.OpSet, Key: "run", Token: "a", TTL: time.Hour, Vouched: time.Hour}, w.Runtime(1).Now(env.Monotonic).Add(patience))
		reply, _ := r.Next(context.Background(), env.Never)
		return reply.Run
	}
	w.mustRun(func(int) {
		before := run()
		w.wantSet("old", env.Yes)
		w.sleep(1, 2*age)
		w.wantSet("young", env.Yes)
		w.Reach(1, begin, 0)
		w.wantAnswers("without its machine", []env.Answer{w.askBriefly(1, 1, env.OpSet, "b")}, env.Lost)
		w.Reach(1, end, 0)
		w.wantSet("old", env.No)
		if got := w.set("young"); got != env.Yes {
			late = fmt.Errorf("what was set just before is %v old", age)
		}
		if after := run(); before == "" || after != before {
			t.Errorf("run %q, which was %q", after, before)
		}
	})
	w.wantKinds(history.FaultStart, history.NodeDown, history.Pause, history.NodeUp, history.FaultEnd, history.Resume)
	return late
}

// A server that rejects a torn file stays down.
func TestTornFileIsRefused(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{Persistence: nemesis.Always, Plan: nemesis.Plan{{
		Action: &nemesis.PowerLoss{Node: 1, TornTail: nemesis.TornRefuse}, Start: nemesis.When(1, begin, 0),
	}}})
	w.mustRun(func(int) {
		w.wantAnswers("at first", w.ask(1, env.OpSet, "a", patience), env.Yes)
		w.Reach(1, begin, 0)
		w.wantAnswers("afterwards", w.ask(1, env.OpSet, "b", patience), isDown)
	})
	w.wantKinds(history.FaultStart, history.NodeDown)
}

// A node without power loses data that was not on its disk, and its clients learn nothing until it
// is back.
func TestLossOfPower(t *testing.T) {
	for persistence, c := range map[nemesis.Persistence]struct{ old, young env.Answer }{
		nemesis.Nothing:     {env.Yes, env.Yes},
		nemesis.EverySecond: {env.No, env.Yes},
		nemesis.Always:      {env.No, env.No},
	} {
		t.Run(string(persistence), func(t *testing.T) {
			slower(t, func(time.Duration) error { return losesPower(t, persistence, c.old, c.young) })
		})
	}
}

// losesPower cuts the power right after a sync, or reports that it was too late.
func losesPower(t *testing.T, persistence nemesis.Persistence, old, young env.Answer) (late error) {
	var synced int64
	w := newTestWorld(t, nemesis.Setting{Persistence: persistence, Plan: between(nemesis.Fault{Action: &nemesis.PowerLoss{Node: 1}})})
	set := w.set
	w.mustRun(func(int) {
		set("old")
		for i := 0; ; i++ { // until right after a sync
			key := fmt.Sprint("young ", i)
			before := w.server(1).(*redisserver.Server).Synced()
			set(key)
			w.sleep(1, time.Millisecond)
			synced = w.server(1).(*redisserver.Server).Synced()
			if i == 0 || persistence == nemesis.EverySecond && synced == before {
				continue
			}
			set("young")
			break
		}
		w.Reach(1, begin, 0)
		if persistence == nemesis.EverySecond && w.server(1).(*redisserver.Server).Synced() != synced {
			late = errors.New("there was a sync before the power was lost")
			return
		}
		w.wantAnswers("without power", []env.Answer{w.askBriefly(1, 1, env.OpSet, "b")}, env.Lost)
		w.Reach(1, end, 0)
		if got := set("old"); got != old {
			t.Errorf("what was set long before: %v, want %v", got, old)
		}
		if got := set("young"); got != young {
			t.Errorf("what was set just before: %v, want %v", got, young)
		}
	})
	return late
}
