package memory

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// What faults do to messages takes exactly as long as they say.
func TestFaultsOfMessages(t *testing.T) {
	const ms = time.Millisecond
	get := env.Command{Op: env.OpGet, Key: "key"} // 24 bytes, and 5 for its answer
	for name, c := range map[string]struct {
		action nemesis.Action
		want   time.Duration
	}{
		"latency":   {&nemesis.Latency{Add: always(40 * ms)}, 80*ms + 2*ms},
		"one way":   {&nemesis.Latency{Add: always(40 * ms), Way: nemesis.Replies}, 40*ms + 2*ms},
		"loss":      {&nemesis.Loss{Percent: 100, Way: nemesis.Requests, RTO: ms}, (1<<nemesis.Retransmissions-1)*ms + 2*ms},
		"bandwidth": {&nemesis.Bandwidth{BytesPerSecond: 1000, Way: nemesis.Replies}, 5*ms + 2*ms - ms},
	} {
		t.Run(name, func(t *testing.T) {
			s := nemesis.Setting{Plan: between(c.action), Latency: always(ms)}
			try(t, s, func(w *trial, client int) {
				w.ask(1, get, patience)
				w.Reach(1, begin, 0)
				if answers, took := w.ask(1, get, patience); answers[0] != env.No || took != c.want {
					t.Errorf("%v after %v, want %v", answers, took, c.want)
				}
				w.Reach(1, end, 0)
				if answers, took := w.ask(1, get, patience); answers[0] != env.No || took != 2*ms {
					t.Errorf("when it is over: %v after %v", answers, took)
				}
			})
		})
	}
}

// A connection that is reset has its requests lost, and those of others go on.
func TestReset(t *testing.T) {
	for way, taken := range map[nemesis.Direction]env.Answer{nemesis.Requests: env.Yes, nemesis.Replies: env.No} {
		s := nemesis.Setting{Plan: between(&nemesis.Reset{Way: way}), Latency: always(time.Millisecond)}
		try(t, s, func(w *trial, client int) {
			w.wantAnswers("at first", env.Command{Op: env.OpGet, Key: "key"}, env.No)
			w.Reach(1, begin, 0)
			w.wantAnswers("reset", set("a"), env.Lost)
			w.Reach(1, end, 0)
			w.wantAnswers("afterwards", set("b"), taken)
		})
	}
}

// A connection that is reset while its node stands still is nothing that the end of the run
// would have to wait for.
func TestResetOfANodeThatStandsStill(t *testing.T) {
	plan := nemesis.Plan{
		{Action: &nemesis.NodePause{Node: 1}, Start: nemesis.At(2 * time.Second)},
		{Action: &nemesis.Reset{Way: nemesis.Replies}, Start: nemesis.At(2 * time.Second)},
	}
	try(t, nemesis.Setting{Plan: plan, Latency: always(time.Second)}, func(w *trial, client int) {
		w.sleep(1, 500*time.Millisecond)
		conn, err := w.Dial(w.t.Context(), 1, 1)
		if err != nil {
			t.Error(err)
			return
		}
		for range 2 { // the answer to the first is on its way when the node is asked again
			_, _ = conn.Write([]byte("*1\r\n$4\r\nPING\r\n"))
			w.sleep(1, 900*time.Millisecond)
		}
		if n, err := conn.Read(make([]byte, 10)); n != 0 || err == nil {
			t.Errorf("%d bytes, %v", n, err)
		}
		w.sleep(1, time.Second) // in which it comes to the node
	})
}

// A client that is killed is heard of no more, and one whose call is cancelled hears it.
func TestKillAndCancel(t *testing.T) {
	plan := nemesis.Plan{
		{Action: &nemesis.Kill{Client: 1}, Start: nemesis.At(time.Second)},
		{Action: &nemesis.Cancel{Client: 2}, Start: nemesis.At(2 * time.Second)},
	}
	w := try(t, nemesis.Setting{Clients: 2, Plan: plan}, func(w *trial, client int) {
		if client == 1 {
			w.sleep(1, time.Minute)
			t.Error("client 1 lives")
		}
		calling, returned := w.Call(w.t.Context(), client)
		defer returned()
		began := time.Now()
		<-calling.Done()
		if err := calling.Err(); !errors.Is(err, context.Canceled) || time.Since(began) != 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
	w.wantKinds(history.FaultStart, history.Kill, history.FaultStart, history.Cancel)
}

// What is done to a client that is dead nobody sees: it dies once.
func TestFaultsOfTheDead(t *testing.T) {
	at := func(s time.Duration, a nemesis.Action) nemesis.Fault {
		return nemesis.Fault{Action: a, Start: nemesis.At(s * time.Second)}
	}
	plan := nemesis.Plan{
		at(1, &nemesis.Pause{Client: 1}), at(2, &nemesis.Kill{Client: 1}),
		at(4, &nemesis.Kill{Client: 1}), at(5, &nemesis.Cancel{Client: 1}), at(6, &nemesis.Suspend{Client: 1}),
	}
	plan[0].End, plan[4].End = nemesis.After(2*time.Second), nemesis.After(time.Second)
	w := try(t, nemesis.Setting{Clients: 2, Plan: plan}, func(w *trial, client int) {
		if client == 1 {
			_, returned := w.Call(w.t.Context(), 1)
			defer returned()
		}
		w.sleep(client, time.Minute)
	})
	w.wantKinds(history.FaultStart, history.Pause, history.FaultStart, history.Kill, history.FaultEnd,
		history.FaultStart, history.FaultStart, history.FaultStart, history.FaultEnd)
}

// The guarded resource takes its time, too.
func TestGuardTakesItsTime(t *testing.T) {
	own := always(20 * time.Millisecond)
	for _, c := range []struct {
		setting nemesis.Setting
		want    time.Duration
	}{
		{nemesis.Setting{Latency: always(10 * time.Millisecond)}, 10 * time.Millisecond},
		{nemesis.Setting{Latency: always(10 * time.Millisecond), GuardLatency: &own}, 20 * time.Millisecond},
		{nemesis.Setting{GuardLatency: &own, Plan: nemesis.Plan{{Action: &nemesis.GuardLatency{Add: own}, Start: nemesis.At(0)}}}, 40 * time.Millisecond},
	} {
		try(t, c.setting, func(w *trial, client int) {
			began := time.Now()
			if err := w.Register(1).Write(w.t.Context(), env.Access{Resource: "stock", Token: "a"}, 7); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took != c.want {
				t.Errorf("a write took %v, want %v", took, c.want)
			}
		})
	}
}
