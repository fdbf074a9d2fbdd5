package contract

import (
	"context"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/address"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/internal/servertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// ofTheUser plays scripts on a server that is somebody's own, each in a world of its own:
// by way of a proxy, and with an end for every key.
func ofTheUser(addr string) rig {
	b := address.Backend{Addrs: []string{addr}}
	s := nemesis.Setting{Nodes: 1, Clients: 1, Persistence: nemesis.Nothing, Horizon: 2 * patience}
	return func(t *testing.T, _ string, script []step) (answers []string, late time.Duration) {
		t.Helper()
		w, err := b.Open(t.Context(), s, 1, new(history.Log))
		if err != nil {
			t.Error(err)
			return nil, 0
		}
		err = w.Run(t.Context(), func(int) {
			r := w.Runtime(1)
			ask := func(c env.Command) env.Reply {
				return only(w.Nodes(1).Send(1, c, r.Now(env.Monotonic).Add(patience)))
			}
			ask(env.Command{Op: env.OpDelete, Key: "warm-up", Token: "-"})
			start := r.Now(env.Monotonic)
			answers, late = play(script, node{
				now:   func() time.Duration { return r.Now(env.Monotonic).Sub(start) },
				sleep: func(d time.Duration) { _ = r.Sleep(context.Background(), r.Now(env.Monotonic).Add(d)) },
				ask:   ask,
				begin: func(step) {}, // nothing is done to such a server
				end:   func(step) {},
			})
		})
		if err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		return answers, late
	}
}

// Law: so does a server of the user's own, though a proxy stands before it and keys to
// which a lock gives no end have one there.
func TestSimulatedNodeAnswersAsAServerOfTheUsersOwn(t *testing.T) {
	served := ofTheUser(servertest.Open(t, redisserver.Options{Nodes: 1}).Server(1).Addr())
	t.Run("at random", func(t *testing.T) { answering(t, served, 5) })
	t.Run("values anew", func(t *testing.T) { expiring(t, served) })
}
