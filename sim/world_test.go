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
	r := w.Nodes(client).Send(to, c, w.Runtime(client).Mono().Add(wait))
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
	_ = w.Runtime(client).Sleep(context.Background(), w.Runtime(client).Mono().Add(d))
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

func TestCrashForgetsOrKeeps(t *testing.T) {
	for persistence, want := range map[nemesis.Persistence]string{nemesis.Nothing: "yes", nemesis.Always: "no"} {
		s := setting(1, 1, nemesis.Fault{Crash: &nemesis.Crash{Node: 1}, Start: nemesis.At(10 * ms), End: nemesis.After(20 * ms)})
		s.Persistence = persistence
		log := play(t, s, func(w *World) {
			expect(t, "set", ask(w, 1, 1, set, time.Second), "yes")
			sleep(w, 1, 15*ms)
			expect(t, "set while down", ask(w, 1, 1, set, time.Second), "failed")
			sleep(w, 1, 20*ms)
			expect(t, string(persistence), ask(w, 1, 1, set, time.Second), want)
		})
		expect(t, "node", kinds(log, history.NodeDown, history.NodeUp), "node-down@10ms node-up@30ms")
	}
}

func TestPartitionHoldsBack(t *testing.T) {
	cut := func(d nemesis.Direction) nemesis.Fault {
		return nemesis.Fault{Partition: &nemesis.Partition{Nodes: []int{2}, Cut: d}, Start: nemesis.At(0), End: nemesis.After(50 * ms)}
	}
	for direction, want := range map[nemesis.Direction]string{
		nemesis.Both:     "key-set@1ms key-set@51ms",
		nemesis.Requests: "key-set@1ms key-set@51ms",
		nemesis.Replies:  "key-set@1ms key-set@1ms",
	} {
		log := play(t, setting(1, 2, cut(direction)), func(w *World) {
			expect(t, "answers", ask(w, 1, env.AllNodes(2), set, 10*ms), "yes lost")
			sleep(w, 1, 60*ms)
		})
		expect(t, string(direction), kinds(log, history.KeySet), want)
		expect(t, "link", kinds(log, history.LinkDown, history.LinkUp), "link-down@0s link-up@50ms")
	}
}

func TestPauseStopsTheClientAndNothingElse(t *testing.T) {
	s := setting(2, 1, nemesis.Fault{
		Pause: &nemesis.Pause{Client: 1}, Start: nemesis.When(1, env.StepBeforeSend, 0), End: nemesis.After(50 * ms),
	})
	log := play(t, s, func(w *World) {
		w.Reach(1, env.StepBeforeSend, 0)
		w.Record(&history.Event{Kind: history.Step, Client: 1})
		sleep(w, 1, 5*ms)
	}, func(w *World) {
		sleep(w, 2, 20*ms)
		w.Record(&history.Event{Kind: history.Step, Client: 2})
	})
	expect(t, "history", kinds(log), "fault-start@0s pause@0s step@20ms resume@50ms fault-end@50ms step@50ms end@55ms")
}

// A reply that came during a pause is seen before the deadline that passed.
func TestReplyBeforeDeadlineAfterPause(t *testing.T) {
	s := setting(1, 1, nemesis.Fault{Pause: &nemesis.Pause{Client: 1}, Start: nemesis.At(500 * time.Microsecond), End: nemesis.After(time.Second)})
	play(t, s, func(w *World) {
		expect(t, "answers", ask(w, 1, 1, set, 10*ms), "yes")
		if now := w.Runtime(1).Mono(); now < env.Instant(time.Second) {
			t.Errorf("the client went on at %v, during its pause", now)
		}
	})
}

func TestKilledClientStaysWhereItIs(t *testing.T) {
	s := setting(1, 1, nemesis.Fault{Kill: &nemesis.Kill{Client: 1}, Start: nemesis.At(10 * ms)})
	log := play(t, s, func(w *World) {
		defer func() { w.Record(&history.Event{Kind: history.Step, Client: 1}) }()
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
		"slow":           {[]nemesis.Fault{{ClockRate: &nemesis.ClockRate{Client: 1, PPM: -500_000}, Start: nemesis.At(50 * ms)}}, "lapse@150ms"},
		"fast":           {[]nemesis.Fault{{ClockRate: &nemesis.ClockRate{Client: 1, PPM: 250_000}, Start: nemesis.At(0)}}, "lapse@80ms"},
		"slow for a bit": {[]nemesis.Fault{{ClockRate: &nemesis.ClockRate{Client: 1, PPM: -500_000}, Start: nemesis.At(0), End: nemesis.After(100 * ms)}}, "lapse@150ms"},
	}
	for name, c := range cases {
		log := play(t, setting(1, 1, c.plan...), func(w *World) {
			w.Watch(1, "r", "a", env.Instant(100*ms))
			w.Watch(1, "r", "b", env.Instant(100*ms))
			w.Unwatch(1, "b")
			_ = w.Runtime(1).Sleep(context.Background(), env.Instant(200*ms))
		})
		expect(t, name, kinds(log, history.Lapse), c.want)
	}
}

// What has come due is in the history, even if nothing else was when it was
// replaced or withdrawn.
func TestLapseThatHasComeIsNotTakenBack(t *testing.T) {
	log := play(t, setting(1, 1), func(w *World) {
		w.Watch(1, "r", "replaced", env.Instant(10*ms))
		w.Watch(1, "r", "withdrawn", env.Instant(20*ms))
		sleep(w, 1, 15*ms)
		w.Watch(1, "r", "replaced", env.Instant(time.Hour))
		sleep(w, 1, 15*ms)
		w.Unwatch(1, "withdrawn")
		w.Watch(1, "r", "late", env.Instant(ms))
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

// Contexts that a client cancels itself end its waits, though nothing tells
// the world.
func TestCancelEndsWaits(t *testing.T) {
	play(t, setting(1, 1), func(w *World) {
		ctx, cancel := context.WithCancel(context.Background())
		sleeper := w.Runtime(1).Go("sleeper", func() {
			if err := w.Runtime(1).Sleep(ctx, env.Never); !errors.Is(err, context.Canceled) {
				t.Errorf("sleep ended with %v", err)
			}
		})
		sleep(w, 1, 5*ms)
		cancel()
		if err := sleeper.Wait(context.Background()); err != nil {
			t.Error(err)
		}
		if now := w.Runtime(1).Mono(); now != env.Instant(5*ms) {
			t.Errorf("the sleeper woke at %v", now)
		}
	})
}

func TestPanicOfAClientIsAnError(t *testing.T) {
	_, err := tryPlay(setting(1, 1), func(*World) { panic("oh") })
	if err == nil || !strings.Contains(err.Error(), "client 1, main: panic: oh") {
		t.Errorf("got %v", err)
	}
}

func TestFaultThatBeginsWhileAnotherHoldsItsTarget(t *testing.T) {
	crash := func(start nemesis.Moment) nemesis.Fault {
		return nemesis.Fault{Crash: &nemesis.Crash{Node: 1}, Start: start, End: nemesis.After(time.Second)}
	}
	_, err := tryPlay(setting(1, 1, crash(nemesis.When(1, env.StepAcquire, 0)), crash(nemesis.When(1, env.StepGranted, 0))), func(w *World) {
		w.Reach(1, env.StepAcquire, 0)
		sleep(w, 1, ms)
		w.Reach(1, env.StepGranted, 0)
	})
	if err == nil || !strings.Contains(err.Error(), "fault 2 (node 1 crashes) begins while fault 1 still holds node 1") {
		t.Errorf("got %v", err)
	}
}

// Every kind of fault is carried out, and no other is claimed.
func TestEveryFaultHasACarrier(t *testing.T) {
	kinds, _ := nemesis.Kinds()
	if got := Faults(); !slices.Equal(got, kinds) {
		t.Errorf("sim carries out %v, there are %v", got, kinds)
	}
}
