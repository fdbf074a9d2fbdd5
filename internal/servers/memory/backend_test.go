package memory

import (
	"context"
	"slices"
	"strings"
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

// patience is how long a reply may take.
const patience = time.Minute

// between is a fault that client 1 begins and ends.
func between(a nemesis.Action) nemesis.Plan {
	over := nemesis.When(1, end, 0)
	return nemesis.Plan{{Action: a, Start: nemesis.When(1, begin, 0), End: &over}}
}

// testWorld is a world in a bubble, and its history.
type testWorld struct {
	t *testing.T
	*live.World
	log *history.Log
}

// try runs the clients of a setting in a bubble. The defaults are one node, one client and
// a horizon of an hour. A bubble with goroutines left fails the test.
func try(t *testing.T, s nemesis.Setting, life func(w *testWorld, client int)) *testWorld {
	t.Helper()
	s.Nodes, s.Clients = max(s.Nodes, 1), max(s.Clients, 1)
	if s.Persistence == "" {
		s.Persistence = nemesis.Nothing
	}
	s.Horizon = max(s.Horizon, time.Hour)
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	w := &testWorld{log: new(history.Log)}
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

// ask sends a command to all nodes and returns the replies by node from 0, and how long
// they took.
func (w *testWorld) ask(client int, cmd env.Command, wait time.Duration) ([]env.Answer, time.Duration) {
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

func (w *testWorld) wantAnswers(what string, cmd env.Command, want ...env.Answer) {
	w.t.Helper()
	if got, _ := w.ask(1, cmd, time.Second); !slices.Equal(got, want) {
		w.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// wantKinds checks the kinds of events in the history, without those of keys.
func (w *testWorld) wantKinds(want ...history.Kind) {
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

func (w *testWorld) sleep(client int, d time.Duration) {
	m := w.Runtime(client)
	_ = m.Sleep(context.Background(), m.Now(env.Monotonic).Add(d))
}

// always is a constant latency.
func always(d time.Duration) nemesis.Distribution {
	return nemesis.Distribution{Range: nemesis.Range{Min: d, Max: d}}
}

// Messages have exactly the latency of the setting. Links may have their own.
func TestLatencyOfTheSetting(t *testing.T) {
	s := nemesis.Setting{
		Nodes: 2, Latency: always(time.Millisecond),
		Links: []nemesis.LinkLatency{{Links: nemesis.Links{Nodes: []int{2}}, Way: nemesis.Replies, Latency: always(600 * time.Millisecond)}},
	}
	try(t, s, func(w *testWorld, client int) {
		w.ask(1, set("a"), patience)
		if answers, took := w.ask(1, set("b"), patience); took != 601*time.Millisecond || answers[1] != env.No {
			t.Errorf("%v after %v", answers, took)
		}
		if answers, took := w.ask(1, set("b"), 500*time.Millisecond); took != 500*time.Millisecond || answers[0] != env.No || answers[1] != env.Lost {
			t.Errorf("%v after %v", answers, took)
		}
	})
}

// Clients cannot run as processes on a network in memory.
func TestClientsAreOfThisProcess(t *testing.T) {
	w, err := Backend{}.Open(t.Context(), nemesis.Setting{Nodes: 1, Clients: 1}, 1, new(history.Log))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.RunProcesses(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "in the memory of this one") {
		t.Error(err)
	}
}
