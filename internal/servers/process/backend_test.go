//go:build linux

package process

import (
	"context"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// A node has two masters, each for some clients, until the old one is demoted. Data that only the
// old one had is lost; data that its replica had received before is on both.
func TestSplitBrain(t *testing.T) {
	lag := nemesis.Distribution{Range: nemesis.Range{Min: 100 * time.Millisecond, Max: 100 * time.Millisecond}}
	over := nemesis.When(1, env.StepAfterWrite, 0)
	s := nemesis.Setting{
		Nodes: 1, Clients: 2, Persistence: nemesis.Nothing, Replication: &lag, Horizon: time.Minute,
		Plan: nemesis.Plan{{Action: &nemesis.SplitBrain{Node: 1, Clients: []int{1}}, Start: nemesis.When(1, env.StepBeforeWrite, 0), End: &over}},
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	w, err := Backend{}.Open(t.Context(), s, 1, new(history.Log))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	set := func(client int, key string, want env.Answer) {
		t.Helper()
		answer := env.Lost
		for last := time.Now().Add(20 * time.Second); answer != env.No && answer != env.Yes && time.Now().Before(last); {
			r := w.Nodes(client).Send(1, env.Command{Op: env.OpSet, Key: key, Token: "a", TTL: time.Hour}, w.Runtime(client).Now(env.Monotonic).Add(time.Second))
			reply, _ := r.Next(context.Background(), env.Never)
			answer = reply.Answer
		}
		if answer != want {
			t.Errorf("client %d, %s: %v, want %v", client, key, answer, want)
		}
	}
	err = w.Run(t.Context(), func(client int) {
		if client != 1 {
			return
		}
		set(1, "old", env.Yes)
		_ = w.Runtime(1).Sleep(context.Background(), w.Runtime(1).Now(env.Monotonic).Add(time.Second))
		set(1, "young", env.Yes)
		w.Reach(1, env.StepBeforeWrite, 0)
		set(1, "young", env.No)
		set(2, "old", env.No)
		set(2, "young", env.Yes)
		set(1, "only the old", env.Yes)
		set(2, "only the new", env.Yes)
		w.Reach(1, env.StepAfterWrite, 0)
		for _, client := range []int{1, 2} {
			set(client, "only the new", env.No)
		}
		set(1, "only the old", env.Yes)
		set(2, "only the old", env.No)
	})
	if err != nil {
		t.Error(err)
	}
}
