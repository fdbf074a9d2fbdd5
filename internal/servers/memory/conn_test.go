package memory

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// own returns a Redis client as a lock outside this project has one.
func (w *testWorld) own(client, node int) *redis.Client {
	return redis.NewClient(&redis.Options{
		MaxRetries: -1,
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return w.Dial(ctx, client, node)
		},
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// Such a client gets the node's replies, and is refused while the node is down.
func TestDialForSomebodyElse(t *testing.T) {
	try(t, nemesis.Setting{Plan: between(&nemesis.Crash{Node: 1})}, func(w *testWorld, client int) {
		c := w.own(1, 1)
		defer c.Close()
		if err := c.Set(w.t.Context(), "key", "value", time.Minute).Err(); err != nil {
			t.Error(err)
		}
		w.sleep(1, time.Minute)
		if got, err := c.Get(w.t.Context(), "key").Result(); err != nil || got != "value" {
			t.Errorf("in the last millisecond: %q, %v", got, err)
		}
		w.sleep(1, time.Millisecond)
		if _, err := c.Get(w.t.Context(), "key").Result(); !errors.Is(err, redis.Nil) {
			t.Errorf("after it: %v", err)
		}
		w.Reach(1, begin, 0)
		_ = c.Ping(w.t.Context()).Err() // the last connection ends under it
		if err := c.Ping(w.t.Context()).Err(); err == nil || !strings.Contains(err.Error(), "dial memory "+Addr(1)+": connection refused") {
			t.Errorf("while it is down: %v", err)
		}
		w.Reach(1, end, 0)
		if err := c.Ping(w.t.Context()).Err(); err != nil {
			t.Error(err)
		}
	})
}

// Such a client is paused where it reads or writes, as long as the plan says. A reply that
// arrived meanwhile is seen before the deadline.
func TestSomebodyElseIsPaused(t *testing.T) {
	const long = 30 * time.Second
	paused := nemesis.Fault{Action: &nemesis.Pause{Client: 1}, Start: nemesis.At(time.Second), End: nemesis.After(long)}
	for name, c := range map[string]struct {
		asked time.Duration // when; the reply comes a second later
		limit time.Duration // of the read, from then on
		heard time.Duration // when
		err   error
	}{
		"before it asks":                 {1500 * time.Millisecond, time.Minute, long + 2*time.Second, nil},
		"while it waits":                 {500 * time.Millisecond, time.Minute, long + time.Second, nil},
		"past the end of its time":       {500 * time.Millisecond, 2 * time.Second, long + time.Second, nil},
		"and has its time over before":   {500 * time.Millisecond, 100 * time.Millisecond, 600 * time.Millisecond, os.ErrDeadlineExceeded},
		"and has its time over after it": {long + 2*time.Second, 100 * time.Millisecond, long + 2100*time.Millisecond, os.ErrDeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			s := nemesis.Setting{Plan: nemesis.Plan{paused}, Latency: always(500 * time.Millisecond)}
			try(t, s, func(w *testWorld, client int) {
				began := time.Now()
				conn, err := w.Dial(w.t.Context(), 1, 1)
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				time.Sleep(c.asked) // as a lock does that is not on env
				_, _ = conn.Write([]byte("*1\r\n$4\r\nPING\r\n"))
				_ = conn.SetReadDeadline(began.Add(c.asked + c.limit))
				n, err := conn.Read(make([]byte, 100))
				if took := time.Since(began); took != c.heard || !errors.Is(err, c.err) || (err == nil) != (n > 0) {
					t.Errorf("%d bytes, %v, after %v; want %v after %v", n, err, took, c.err, c.heard)
				}
			})
		})
	}
}

// A stopped node sends nothing, not even the timeout of a blocking command.
func TestSomebodyElseWaitsAtANodeThatStandsStill(t *testing.T) {
	plan := nemesis.Plan{{Action: &nemesis.NodePause{Node: 1}, Start: nemesis.At(5 * time.Second), End: nemesis.After(30 * time.Second)}}
	try(t, nemesis.Setting{Plan: plan}, func(w *testWorld, client int) {
		began := time.Now()
		conn, err := w.Dial(w.t.Context(), 1, 1)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = conn.Write([]byte("*3\r\n$5\r\nBLPOP\r\n$5\r\nqueue\r\n$2\r\n10\r\n"))
		if n, err := conn.Read(make([]byte, 10)); n == 0 || err != nil || time.Since(began) != 35*time.Second {
			t.Errorf("%d bytes, %v after %v", n, err, time.Since(began))
		}
	})
}

// A blocked client gets a message or an item of a list at the instant at which it is sent,
// and learns of a crash. Nothing is left behind.
func TestSomebodyElseWaitsAtANode(t *testing.T) {
	plan := nemesis.Plan{{Action: &nemesis.Crash{Node: 1}, Start: nemesis.At(time.Minute), End: nemesis.After(time.Minute)}}
	try(t, nemesis.Setting{Clients: 2, Plan: plan}, func(w *testWorld, client int) {
		c := w.own(client, 1)
		defer c.Close()
		if client == 2 {
			w.sleep(2, 10*time.Second)
			if err := c.Publish(w.t.Context(), "news", "free").Err(); err != nil {
				t.Error(err)
			}
			w.sleep(2, 10*time.Second)
			if err := c.RPush(w.t.Context(), "queue", "item").Err(); err != nil {
				t.Error(err)
			}
			return
		}
		began := time.Now()
		sub := c.Subscribe(w.t.Context(), "news")
		defer sub.Close()
		if _, err := sub.Receive(w.t.Context()); err != nil {
			t.Error(err)
		}
		if m, err := sub.ReceiveMessage(w.t.Context()); err != nil || m.Payload != "free" || time.Since(began) != 10*time.Second {
			t.Errorf("%v, %v after %v", m, err, time.Since(began))
		}
		if item, err := c.BLPop(w.t.Context(), 30*time.Second, "queue").Result(); err != nil || item[1] != "item" || time.Since(began) != 20*time.Second {
			t.Errorf("%v, %v after %v", item, err, time.Since(began))
		}
		if _, err := c.BLPop(w.t.Context(), 30*time.Second, "queue").Result(); !errors.Is(err, redis.Nil) || time.Since(began) != 50*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if _, err := c.BLPop(w.t.Context(), 30*time.Second, "queue").Result(); err == nil || time.Since(began) != time.Minute {
			t.Errorf("the node crashes: %v after %v", err, time.Since(began))
		}
		w.sleep(1, time.Hour)
	})
}

// Faults of messages take exactly as long as they say.
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
			try(t, s, func(w *testWorld, client int) {
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

// A reset loses the requests of its connection. Others continue.
func TestReset(t *testing.T) {
	for way, taken := range map[nemesis.Direction]env.Answer{nemesis.Requests: env.Yes, nemesis.Replies: env.No} {
		s := nemesis.Setting{Plan: between(&nemesis.Reset{Way: way}), Latency: always(time.Millisecond)}
		try(t, s, func(w *testWorld, client int) {
			w.wantAnswers("at first", env.Command{Op: env.OpGet, Key: "key"}, env.No)
			w.Reach(1, begin, 0)
			w.wantAnswers("reset", set("a"), env.Lost)
			w.Reach(1, end, 0)
			w.wantAnswers("afterwards", set("b"), taken)
		})
	}
}

// A reset once loses the first request after it, or its reply, whenever that comes. The next one
// gets through before the fault is over.
func TestResetOnce(t *testing.T) {
	for way, taken := range map[nemesis.Direction]env.Answer{nemesis.Requests: env.Yes, nemesis.Replies: env.No} {
		s := nemesis.Setting{Plan: between(&nemesis.Reset{Way: way, Once: true}), Latency: always(time.Millisecond)}
		try(t, s, func(w *testWorld, client int) {
			w.wantAnswers("at first", env.Command{Op: env.OpGet, Key: "key"}, env.No)
			w.Reach(1, begin, 0)
			w.sleep(1, time.Second)
			w.wantAnswers("reset", set("a"), env.Lost)
			w.wantAnswers("afterwards", set("b"), taken)
			w.wantAnswers("still", set("c"), env.No)
			w.Reach(1, end, 0)
		})
	}
}

// A reset once is over when it has struck, although its planned end never comes.
func TestResetOnceIsOverWhenItHasStruck(t *testing.T) {
	s := nemesis.Setting{Plan: between(&nemesis.Reset{Way: nemesis.Replies, Once: true}), Latency: always(time.Millisecond)}
	w := try(t, s, func(w *testWorld, client int) {
		w.wantAnswers("at first", env.Command{Op: env.OpGet, Key: "key"}, env.No)
		w.Reach(1, begin, 0)
		w.sleep(1, time.Second)
		w.wantAnswers("reset", set("a"), env.Lost)
		w.sleep(1, time.Minute)
	})
	w.wantKinds(history.FaultStart, history.LinkDown, history.LinkUp, history.FaultEnd)
	for _, e := range *w.log {
		if e.Kind == history.FaultEnd && (e.Fault != 1 || e.Time > history.Time(2*time.Second)) {
			t.Errorf("%+v: it struck after a second", e)
		}
	}
}

// A reset while the node is stopped leaves nothing that the end of the run has to wait for.
func TestResetOfANodeThatStandsStill(t *testing.T) {
	plan := nemesis.Plan{
		{Action: &nemesis.NodePause{Node: 1}, Start: nemesis.At(2 * time.Second)},
		{Action: &nemesis.Reset{Way: nemesis.Replies}, Start: nemesis.At(2 * time.Second)},
	}
	try(t, nemesis.Setting{Plan: plan, Latency: always(time.Second)}, func(w *testWorld, client int) {
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

// A killed client adds nothing more to the history. A cancelled call ends.
func TestKillAndCancel(t *testing.T) {
	plan := nemesis.Plan{
		{Action: &nemesis.Kill{Client: 1}, Start: nemesis.At(time.Second)},
		{Action: &nemesis.Cancel{Client: 2}, Start: nemesis.At(2 * time.Second)},
	}
	w := try(t, nemesis.Setting{Clients: 2, Plan: plan}, func(w *testWorld, client int) {
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

// Faults of a dead client have no effect: it dies once.
func TestFaultsOfTheDead(t *testing.T) {
	at := func(s time.Duration, a nemesis.Action) nemesis.Fault {
		return nemesis.Fault{Action: a, Start: nemesis.At(s * time.Second)}
	}
	plan := nemesis.Plan{
		at(1, &nemesis.Pause{Client: 1}), at(2, &nemesis.Kill{Client: 1}),
		at(4, &nemesis.Kill{Client: 1}), at(5, &nemesis.Cancel{Client: 1}), at(6, &nemesis.Suspend{Client: 1}),
	}
	plan[0].End, plan[4].End = nemesis.After(2*time.Second), nemesis.After(time.Second)
	w := try(t, nemesis.Setting{Clients: 2, Plan: plan}, func(w *testWorld, client int) {
		if client == 1 {
			_, returned := w.Call(w.t.Context(), 1)
			defer returned()
		}
		w.sleep(client, time.Minute)
	})
	w.wantKinds(history.FaultStart, history.Pause, history.FaultStart, history.Kill, history.FaultEnd,
		history.FaultStart, history.FaultStart, history.FaultStart, history.FaultEnd)
}

// Accesses to the guarded resource take time, too.
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
		try(t, c.setting, func(w *testWorld, client int) {
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

// Law: however requests are split, a command ends in the piece with its last byte.
func TestCommandsAreToldApart(t *testing.T) {
	commands := []string{
		"*1\r\n$4\r\nPING\r\n",
		"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n",
		"*2\r\n$4\r\nECHO\r\n$8\r\n*1\r\n$1\r\n\r\n",
	}
	rapid.Check(t, func(t *rapid.T) {
		text, ends := "", map[int]bool{}
		for _, c := range rapid.SliceOfN(rapid.SampledFrom(commands), 1, 10).Draw(t, "commands") {
			text += c
			ends[len(text)] = true
		}
		c := &conn{node: &node{clock: new(clock)}}
		for from := 0; from < len(text); {
			to := rapid.IntRange(from+1, len(text)).Draw(t, "end of a piece")
			want := 0
			for at := from + 1; at <= to; at++ {
				if ends[at] {
					want++
				}
			}
			c.coming = nil
			if c.noteSent([]byte(text[from:to]), time.Now()); len(c.coming) != want {
				t.Fatalf("%q of %q ends %d commands, want %d", text[from:to], text, len(c.coming), want)
			}
			from = to
		}
	})
}
