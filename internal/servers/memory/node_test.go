package memory

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// A machine that loses power keeps the data on its disk. With a sync each second that is data from
// a second ago, without the latest writes; a key that was just deleted is back.
func TestPowerLoss(t *testing.T) {
	named := func(op env.Op, key string) env.Command {
		return env.Command{Op: op, Key: key, Token: "a", TTL: time.Hour}
	}
	for persistence, want := range map[nemesis.Persistence][3]env.Answer{
		nemesis.Nothing:     {env.No, env.No, env.No},
		nemesis.EverySecond: {env.Yes, env.No, env.Yes},
		nemesis.Always:      {env.Yes, env.Yes, env.No},
	} {
		t.Run(string(persistence), func(t *testing.T) {
			w := try(t, nemesis.Setting{Persistence: persistence, Plan: between(&nemesis.PowerLoss{Node: 1})}, func(w *testWorld, client int) {
				for _, key := range []string{"old", "deleted"} {
					w.wantAnswers("set", named(env.OpSet, key), env.Yes)
				}
				w.sleep(1, 1500*time.Millisecond) // in which there is a sync; and in what follows no time passes
				w.wantAnswers("set", named(env.OpSet, "new"), env.Yes)
				w.wantAnswers("delete", named(env.OpDelete, "deleted"), env.Yes)
				w.Reach(1, begin, 0)
				w.wantAnswers("without power", named(env.OpGet, "old"), env.Lost)
				w.Reach(1, end, 0)
				w.sleep(1, time.Millisecond)
				for i, key := range []string{"old", "new", "deleted"} {
					w.wantAnswers(key, named(env.OpGet, key), want[i])
				}
			})
			w.wantKinds(history.FaultStart, history.NodeDown, history.Pause, history.NodeUp, history.FaultEnd, history.Resume)
		})
	}
}

// A machine without power neither accepts nor refuses connections. When it is back, it does
// not know those made meanwhile.
func TestDialWithoutPower(t *testing.T) {
	plan := nemesis.Plan{{Action: &nemesis.PowerLoss{Node: 1}, Start: nemesis.At(time.Second), End: nemesis.After(time.Minute)}}
	try(t, nemesis.Setting{Plan: plan}, func(w *testWorld, client int) {
		w.sleep(1, 2*time.Second)
		began := time.Now()
		conn, err := w.Dial(w.t.Context(), 1, 1)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		if _, err := conn.Write([]byte("*1\r\n$4\r\nPING\r\n")); err != nil {
			t.Error(err)
		}
		if n, err := conn.Read(make([]byte, 10)); n != 0 || !errors.Is(err, io.EOF) || time.Since(began) != 59*time.Second {
			t.Errorf("%d bytes, %v, after %v", n, err, time.Since(began))
		}
	})
}
