package contract

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/memory"
	"github.com/lockstorm/lockstorm/nemesis"
)

// inMemory plays scripts on a node in memory, each in a bubble and a world of its own.
func inMemory(p nemesis.Persistence) rig {
	return func(t *testing.T, _ string, script []step) (answers []string, late time.Duration) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s := nemesis.Setting{Nodes: 1, Clients: 1, Persistence: p, Horizon: time.Hour, Plan: plan(script)}
			w, err := memory.Backend{}.Open(t.Context(), s, 1, new(history.Log))
			if err != nil {
				t.Fatal(err)
			}
			err = w.Run(t.Context(), func(int) {
				r := w.Runtime(1)
				ask := func(c env.Command) env.Reply { return only(w.Nodes(1).Send(1, c, env.Never)) }
				answers, late = play(script, node{
					now:   func() time.Duration { return time.Duration(r.Now(env.Monotonic)) },
					sleep: func(d time.Duration) { _ = r.Sleep(context.Background(), r.Now(env.Monotonic).Add(d)) },
					ask:   ask,
					begin: func(s step) {
						w.Reach(1, begins, 0)
						if s.what == restarts || s.what == shutDown {
							ask(env.Command{Op: env.OpDelete, Key: "warm-up", Token: "-"}) // finds the connection broken
						}
					},
					end: func(s step) {
						if _, until := s.fault(); until {
							w.Reach(1, ends, 0)
						}
					},
				})
			})
			if err != nil {
				t.Error(err)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
		return answers, late
	}
}

// Law: a node in memory answers as a simulated one, and so as Redis, whatever is done to it,
// with every persistence. Its time is virtual, and every script is held to it.
func TestNodeInMemoryAnswersAsSimulatedNode(t *testing.T) {
	const each = 200
	for _, p := range []nemesis.Persistence{nemesis.Nothing, nemesis.EverySecond, nemesis.Always} {
		t.Run(string(p), func(t *testing.T) {
			all := scripts(asked, restarts, shutDown, evicts, evictsAll, evictsKey, twice, flushes, stalled, full, follows)
			if judged := compareMany(t, inMemory(p), grain, p, all, 0, each); judged < each {
				t.Errorf("%d of %d scripts could be held to virtual time", judged, each)
			}
		})
	}
	t.Run("values anew", func(t *testing.T) { expiring(t, inMemory(nemesis.Nothing)) })
}
