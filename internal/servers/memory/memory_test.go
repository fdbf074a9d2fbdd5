package memory

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/nemesis"
)

// The steps at which the faults of these tests begin and end.
const (
	begin = env.StepBeforeWrite
	end   = env.StepAfterWrite
)

// patience is how long an answer may take.
const patience = time.Minute

// between is a fault that client 1 begins and ends.
func between(a nemesis.Action) nemesis.Plan {
	over := nemesis.When(1, end, 0)
	return nemesis.Plan{{Action: a, Start: nemesis.When(1, begin, 0), End: &over}}
}

// trial is a world in a bubble, and its history.
type trial struct {
	t *testing.T
	*live.World
	log *history.Log
}

// try runs the clients of a setting in a bubble, with a node, a client and a horizon of an
// hour unless it says otherwise. A bubble fails that is left with a goroutine in it.
func try(t *testing.T, s nemesis.Setting, life func(w *trial, client int)) *trial {
	t.Helper()
	s.Nodes, s.Clients = max(s.Nodes, 1), max(s.Clients, 1)
	if s.Persistence == "" {
		s.Persistence = nemesis.Nothing
	}
	s.Horizon = max(s.Horizon, time.Hour)
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	w := &trial{log: new(history.Log)}
	synctest.Test(t, func(t *testing.T) {
		w.t = t // whose context is that of the bubble
		world, err := Backend{}.Open(t.Context(), s, 1, w.log)
		if err != nil {
			t.Fatal(err)
		}
		w.World = world
		if err := w.Run(t.Context(), func(client int) { life(w, client) }); err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	w.t = t
	return w
}

// ask sends a command to all nodes, and returns the answers by node from 0, and how long
// they took.
func (w *trial) ask(client int, cmd env.Command, wait time.Duration) ([]env.Answer, time.Duration) {
	nodes, m := w.Nodes(client), w.Runtime(client)
	began := m.Now(env.Monotonic)
	answers := make([]env.Answer, nodes.Len())
	for r := nodes.Send(env.AllNodes(nodes.Len()), cmd, began.Add(wait)); ; {
		reply, err := r.Next(context.Background(), env.Never)
		if err != nil {
			return answers, m.Now(env.Monotonic).Sub(began)
		}
		answers[reply.Node-1] = reply.Answer
	}
}

func set(token string) env.Command {
	return env.Command{Op: env.OpSet, Key: "key", Token: token, TTL: time.Hour}
}

func (w *trial) wantAnswers(what string, cmd env.Command, want ...env.Answer) {
	w.t.Helper()
	if got, _ := w.ask(1, cmd, time.Second); !slices.EqualFunc(got, want, func(got, want env.Answer) bool {
		return got == want || want == isDown && (got == env.Lost || got == env.Failed)
	}) {
		w.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// wantKinds asks for the events of a history but for those of keys.
func (w *trial) wantKinds(want ...history.Kind) {
	w.t.Helper()
	var got []history.Kind
	for _, e := range *w.log {
		if !ofKeys(e.Kind) {
			got = append(got, e.Kind)
		}
	}
	if want = append(want, history.End); !slices.Equal(got, want) {
		w.t.Errorf("the history tells\n%v, want\n%v", got, want)
	}
}

func (w *trial) sleep(client int, d time.Duration) {
	m := w.Runtime(client)
	_ = m.Sleep(context.Background(), m.Now(env.Monotonic).Add(d))
}

// isDown stands for what is heard of a server that is down: its last connection ends under
// a request, or no new one can be made.
const isDown env.Answer = 100

func TestCrash(t *testing.T) {
	for persistence, want := range map[nemesis.Persistence]env.Answer{nemesis.Nothing: env.Yes, nemesis.EverySecond: env.No, nemesis.Always: env.No} {
		w := try(t, nemesis.Setting{Nodes: 3, Persistence: persistence, Plan: between(&nemesis.Crash{Node: 2})}, func(w *trial, client int) {
			w.wantAnswers("at first", set("a"), env.Yes, env.Yes, env.Yes)
			w.Reach(1, begin, 0)
			w.wantAnswers("while it is down", set("b"), env.No, isDown, env.No)
			w.wantAnswers("and has been", set("b"), env.No, env.Failed, env.No)
			w.Reach(1, end, 0)
			w.wantAnswers("when it is back", set("b"), env.No, want, env.No)
		})
		w.wantKinds(history.FaultStart, history.NodeDown, history.Pause, history.NodeUp, history.FaultEnd, history.Resume)
	}
}

// always is no more and no less.
func always(d time.Duration) nemesis.Distribution {
	return nemesis.Distribution{Range: nemesis.Range{Min: d, Max: d}}
}

// Messages take what the setting says, to the nanosecond, and links may have a latency of
// their own.
func TestLatencyOfTheSetting(t *testing.T) {
	s := nemesis.Setting{
		Nodes: 2, Latency: always(time.Millisecond),
		Links: []nemesis.LinkLatency{{Links: nemesis.Links{Nodes: []int{2}}, Way: nemesis.Replies, Latency: always(600 * time.Millisecond)}},
	}
	try(t, s, func(w *trial, client int) {
		w.ask(1, set("a"), patience)
		if answers, took := w.ask(1, set("b"), patience); took != 601*time.Millisecond || answers[1] != env.No {
			t.Errorf("%v after %v", answers, took)
		}
		if answers, took := w.ask(1, set("b"), 500*time.Millisecond); took != 500*time.Millisecond || answers[0] != env.No || answers[1] != env.Lost {
			t.Errorf("%v after %v", answers, took)
		}
	})
}

// What is held back for 30 s takes no time, and effect at its end.
func TestPartition(t *testing.T) {
	w := try(t, nemesis.Setting{Nodes: 2, Plan: between(&nemesis.Partition{Links: nemesis.Links{Nodes: []int{2}}})}, func(w *trial, client int) {
		w.wantAnswers("at first", env.Command{Op: env.OpGet, Key: "key"}, env.No, env.No)
		w.Reach(1, begin, 0)
		w.wantAnswers("over a cut link", set("a"), env.Yes, env.Lost)
		w.sleep(1, 30*time.Second)
		w.Reach(1, end, 0)
		w.sleep(1, time.Millisecond) // what was held back went over a connection of its own
		w.wantAnswers("when it is whole", set("b"), env.No, env.No)
	})
	w.wantKinds(history.FaultStart, history.LinkDown, history.LinkUp, history.FaultEnd)
}

// A client that is paused is so in virtual time.
func TestPause(t *testing.T) {
	plan := nemesis.Plan{{Action: &nemesis.Pause{Client: 1}, Start: nemesis.When(1, begin, 0), End: nemesis.After(30 * time.Second)}}
	try(t, nemesis.Setting{Plan: plan}, func(w *trial, client int) {
		began := w.Runtime(1).Now(env.Monotonic)
		w.Reach(1, begin, 0)
		if stood := w.Runtime(1).Now(env.Monotonic).Sub(began); stood != 30*time.Second {
			t.Errorf("it stood still for %v", stood)
		}
		if stood := w.SchedulingLag(); stood != 0 {
			t.Errorf("virtual time was late by %v", stood)
		}
	})
}
