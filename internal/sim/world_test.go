package sim

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

const ms = time.Millisecond

// setting is a small world in which every message takes a millisecond.
func setting(clients, nodes int, plan ...nemesis.Fault) nemesis.Setting {
	return nemesis.Setting{
		Nodes: nodes, Clients: clients, Persistence: nemesis.Nothing,
		Latency: nemesis.Distribution{Range: nemesis.Range{Min: ms, Max: ms}}, Horizon: 10 * time.Second, Plan: plan,
	}
}

// play runs one function for each client and returns the history.
func play(t *testing.T, s nemesis.Setting, mains ...func(*World)) history.Log {
	t.Helper()
	log, err := tryPlay(s, mains...)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func tryPlay(s nemesis.Setting, mains ...func(*World)) (history.Log, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	var log history.Log
	w, err := Open(context.Background(), s, 1, &log)
	if err != nil {
		return nil, err
	}
	err = w.Run(context.Background(), func(client int) { mains[client-1](w) })
	return log, err
}

// kinds prints the history in short, as in "key-set@1ms".
func kinds(log history.Log, only ...history.Kind) string {
	var list []string
	for _, e := range log {
		if len(only) == 0 || slices.Contains(only, e.Kind) {
			list = append(list, e.Kind.String()+"@"+e.Time.String())
		}
	}
	return strings.Join(list, " ")
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

var set = env.Command{Op: env.OpSet, Key: "r", Token: "a", TTL: 100 * ms}

// ask sends a command to the nodes and returns the answers in the order in
// which they come.
func ask(w *World, client int, to env.NodeSet, c env.Command, wait time.Duration) string {
	r := w.Nodes(client).Send(to, c, w.Runtime(client).Now(env.Monotonic).Add(wait))
	var list []string
	for {
		reply, err := r.Next(context.Background(), env.Never)
		if errors.Is(err, env.ErrRoundOver) {
			return strings.Join(list, " ")
		}
		list = append(list, reply.Answer.String())
	}
}

func sleep(w *World, client int, d time.Duration) {
	_ = w.Runtime(client).Sleep(context.Background(), w.Runtime(client).Now(env.Monotonic).Add(d))
}

func TestNodeKeepsKeysForTheirTime(t *testing.T) {
	play(t, setting(1, 1), func(w *World) {
		expect(t, "set", ask(w, 1, 1, set, time.Second), "yes")
		expect(t, "set again", ask(w, 1, 1, set, time.Second), "no")
		other := set
		other.Op, other.Token = env.OpDelete, "b"
		expect(t, "delete another's", ask(w, 1, 1, other, time.Second), "no")
		sleep(w, 1, 120*ms)
		expect(t, "set after expiry", ask(w, 1, 1, set, time.Second), "yes")
		sleep(w, 1, 80*ms)
		more := set
		more.Op = env.OpExtend
		expect(t, "extend", ask(w, 1, 1, more, time.Second), "yes")
		less := more
		less.TTL = 10 * ms
		expect(t, "extend to less", ask(w, 1, 1, less, time.Second), "yes")
		sleep(w, 1, 60*ms)
		expect(t, "set while extended", ask(w, 1, 1, set, time.Second), "no")
		drop := set
		drop.Op = env.OpDelete
		expect(t, "delete", ask(w, 1, 1, drop, time.Second), "yes")
		expect(t, "extend what is gone", ask(w, 1, 1, more, time.Second), "no")
	})
}

func TestPauseStopsTheClientAndNothingElse(t *testing.T) {
	s := setting(2, 1, nemesis.Fault{
		Action: &nemesis.Pause{Client: 1}, Start: nemesis.When(1, env.StepBeforeSend, 0), End: nemesis.After(50 * ms),
	})
	log := play(t, s, func(w *World) {
		w.Reach(1, env.StepBeforeSend, 0)
		w.Record(history.Event{Kind: history.Step, Client: 1})
		sleep(w, 1, 5*ms)
	}, func(w *World) {
		sleep(w, 2, 20*ms)
		w.Record(history.Event{Kind: history.Step, Client: 2})
	})
	expect(t, "history", kinds(log), "fault-start@0s pause@0s step@20ms resume@50ms fault-end@50ms step@50ms end@55ms")
}

// timersFirst is a pause of client 1 after which it sees its timers first.
func timersFirst(start nemesis.Trigger, length time.Duration) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Pause{Client: 1, First: nemesis.TimersFirst}, Start: start, End: nemesis.After(length)}
}

// next tells what the client sees next of a round, and when: an answer or an
// error.
func next(w *World, r env.Round, until env.Instant) string {
	reply, err := r.Next(context.Background(), until)
	what := reply.Answer.String()
	if err != nil {
		what = err.Error()
	}
	return what + " at " + time.Duration(w.now).String()
}

// A reply arrives at 2 ms, during the pause. Timers that are due by the end of the pause come
// first, and replies to requests that they abandon are never seen.
func TestTimersBeforeRepliesAfterPause(t *testing.T) {
	cases := map[string]struct {
		giveUp, until time.Duration
		want          []string
	}{
		"given up":            {10 * ms, time.Second, []string{"lost at 50ms", "every node has been reported at 50ms"}},
		"waited for too long": {time.Second, 10 * ms, []string{"no reply in time at 50ms", "yes at 50ms"}},
		"neither":             {time.Second, time.Second, []string{"yes at 50ms", "every node has been reported at 50ms"}},
		"up as it ends":       {50 * ms, 50 * ms, []string{"lost at 50ms", "every node has been reported at 50ms"}},
	}
	for name, c := range cases {
		play(t, setting(1, 1, timersFirst(nemesis.At(ms), 49*ms)), func(w *World) {
			r := w.Nodes(1).Send(1, set, env.Instant(c.giveUp))
			expect(t, name, next(w, r, env.Instant(c.until)), c.want[0])
			expect(t, name, next(w, r, env.Never), c.want[1])
		})
	}
}

// Other coroutines of the client see their timers as well before one of them
// sees a reply; and so does one that was stopped at a step.
func TestAllTimersBeforeReplies(t *testing.T) {
	var order []string
	play(t, setting(1, 1, timersFirst(nemesis.At(ms), 49*ms)), func(w *World) {
		saw := func(what string) { order = append(order, what) }
		r := w.Nodes(1).Send(1, set, env.Instant(time.Second))
		w.Runtime(1).Go("reader", func() {
			next(w, r, env.Instant(time.Second))
			saw("reply")
		})
		w.Runtime(1).Go("guarded", func() {
			if _, err := w.Register(1).Read(context.Background(), env.Access{Resource: "r"}); err != nil {
				t.Error(err)
			}
			saw("value")
		})
		for _, d := range []time.Duration{10 * ms, 50 * ms} {
			w.Runtime(1).Go("sleeper", func() {
				sleep(w, 1, d)
				saw("timer")
				sleep(w, 1, 0)
				saw("next timer")
			})
		}
		sleep(w, 1, 60*ms)
	})
	expect(t, "order", strings.Join(order, ", "), "timer, next timer, timer, next timer, reply, value")

	s := timersFirst(nemesis.When(1, env.StepBeforeSend, 0), 50*ms)
	play(t, setting(1, 1, s), func(w *World) {
		r := w.Nodes(1).Send(1, set, env.Instant(10*ms))
		w.Reach(1, env.StepBeforeSend, 0)
		expect(t, "after a step", next(w, r, env.Instant(10*ms)), "lost at 50ms")
	})
}

// Of two pauses without a gap the second says what becomes of the replies.
func TestPauseAfterPause(t *testing.T) {
	second := nemesis.Fault{Action: &nemesis.Pause{Client: 1}, Start: nemesis.At(50 * ms), End: nemesis.After(50 * ms)}
	for first, want := range map[nemesis.First]string{"": "yes at 100ms", nemesis.RepliesFirst: "yes at 100ms", nemesis.TimersFirst: "lost at 100ms"} {
		action := *second.Action.(*nemesis.Pause)
		action.First = first
		second.Action = &action
		play(t, setting(1, 1, timersFirst(nemesis.At(ms), 49*ms), second), func(w *World) {
			expect(t, string(first), next(w, w.Nodes(1).Send(1, set, env.Instant(10*ms)), env.Never), want)
		})
	}
}

func TestKilledClientStaysWhereItIs(t *testing.T) {
	s := setting(1, 1, nemesis.Fault{Action: &nemesis.Kill{Client: 1}, Start: nemesis.At(10 * ms)})
	log := play(t, s, func(w *World) {
		defer func() { w.Record(history.Event{Kind: history.Step, Client: 1}) }()
		sleep(w, 1, 20*ms)
		t.Error("a dead client went on")
	})
	expect(t, "history", kinds(log), "fault-start@10ms kill@10ms end@10ms")
}

func TestLapseFollowsTheClientsClock(t *testing.T) {
	cases := map[string]struct {
		plan []nemesis.Fault
		want string
	}{
		"true":           {nil, "lapse@100ms"},
		"slow":           {[]nemesis.Fault{{Action: &nemesis.ClockRate{Machine: nemesis.Machine{Client: 1}, PPM: -500_000}, Start: nemesis.At(50 * ms)}}, "lapse@150ms"},
		"fast":           {[]nemesis.Fault{{Action: &nemesis.ClockRate{Machine: nemesis.Machine{Client: 1}, PPM: 250_000}, Start: nemesis.At(0)}}, "lapse@80ms"},
		"slow for a bit": {[]nemesis.Fault{{Action: &nemesis.ClockRate{Machine: nemesis.Machine{Client: 1}, PPM: -500_000}, Start: nemesis.At(0), End: nemesis.After(100 * ms)}}, "lapse@150ms"},
	}
	for name, c := range cases {
		log := play(t, setting(1, 1, c.plan...), func(w *World) {
			w.Watch(1, env.Monotonic, "r", "a", env.Instant(100*ms))
			w.Watch(1, env.Monotonic, "r", "b", env.Instant(100*ms))
			w.Unwatch(1, "b")
			_ = w.Runtime(1).Sleep(context.Background(), env.Instant(200*ms))
		})
		expect(t, name, kinds(log, history.Lapse), c.want)
	}
}

// A lapse that is due is recorded, even if nothing else happened before it was replaced or
// withdrawn.
func TestLapseThatHasComeIsNotTakenBack(t *testing.T) {
	log := play(t, setting(1, 1), func(w *World) {
		w.Watch(1, env.Monotonic, "r", "replaced", env.Instant(10*ms))
		w.Watch(1, env.Monotonic, "r", "withdrawn", env.Instant(20*ms))
		sleep(w, 1, 15*ms)
		w.Watch(1, env.Monotonic, "r", "replaced", env.Instant(time.Hour))
		sleep(w, 1, 15*ms)
		w.Unwatch(1, "withdrawn")
		w.Watch(1, env.Monotonic, "r", "late", env.Instant(ms))
	})
	expect(t, "history", kinds(log), "lapse@10ms lapse@20ms lapse@30ms end@30ms")
}

func TestRegisterChecksFences(t *testing.T) {
	s := setting(1, 1)
	s.Guard = guard.Fenced
	log := play(t, s, func(w *World) {
		ctx, r := context.Background(), w.Register(1)
		low, _ := r.Fence(ctx, "r")
		high, _ := r.Fence(ctx, "r")
		if _, err := r.Read(ctx, env.Access{Resource: "r", Fence: high}); err != nil {
			t.Error(err)
		}
		if err := r.Write(ctx, env.Access{Resource: "r", Fence: low}, 7); !errors.Is(err, env.ErrFenced) {
			t.Errorf("a write with a lower fence: %v", err)
		}
		if err := r.Write(ctx, env.Access{Resource: "r", Fence: high}, 8); err != nil {
			t.Error(err)
		}
	})
	expect(t, "history", kinds(log, history.Apply), "apply@9ms")
}

// Every kind of fault is carried out, and no other is claimed.
func TestEveryFaultHasACarrier(t *testing.T) {
	kinds, _ := nemesis.Kinds()
	if got := Faults(); !slices.Equal(got, kinds) {
		t.Errorf("sim carries out %v, there are %v", got, kinds)
	}
}

// Nothing can be done to a client any more that is dead.
func TestKilledClientIsLeftAlone(t *testing.T) {
	kill := nemesis.Fault{Action: &nemesis.Kill{Client: 1}, Start: nemesis.At(20 * ms)}
	for name, c := range map[string]struct {
		fault nemesis.Fault
		want  string
	}{
		"paused":            {fault(&nemesis.Pause{Client: 1}, 30*ms, 10*ms), "kill@20ms"},
		"paused before":     {fault(&nemesis.Pause{Client: 1}, 10*ms, 20*ms), "pause@10ms kill@20ms"},
		"suspended":         {fault(&nemesis.Suspend{Client: 1}, 30*ms, 10*ms), "kill@20ms"},
		"taken back":        {fault(&nemesis.Snapshot{Client: 1}, 30*ms, 10*ms), "kill@20ms"},
		"cancelled":         {nemesis.Fault{Action: &nemesis.Cancel{Client: 1}, Start: nemesis.At(30 * ms)}, "kill@20ms"},
		"killed once again": {nemesis.Fault{Action: &nemesis.Kill{Client: 1}, Start: nemesis.At(30 * ms)}, "kill@20ms"},
	} {
		log := play(t, setting(2, 1, kill, c.fault), func(w *World) {
			w.Call(context.Background(), 1)
			sleep(w, 1, time.Second)
		}, func(w *World) { sleep(w, 2, 100*ms) })
		expect(t, name, kinds(log, history.Pause, history.Resume, history.Cancel, history.Kill), c.want)
	}
}

// Messages that were delivered after a pause are not delivered again after the next.
func TestInboxIsEmptiedOnce(t *testing.T) {
	play(t, setting(1, 1, timersFirst(nemesis.At(ms), 4*ms), timersFirst(nemesis.At(20*ms), 5*ms)), func(w *World) {
		access := env.Access{Resource: "r"}
		_, _ = w.Register(1).Read(context.Background(), access)
		_ = w.Runtime(1).Sleep(context.Background(), env.Instant(23*ms))
		_ = w.Register(1).Write(context.Background(), access, 1)
		expect(t, "written at", w.time().String(), "27ms")
	})
}
