//go:build linux

package process

import (
	"context"
	"fmt"

	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func TestMissingServerIsOneLine(t *testing.T) {
	_, err := Backend{Binary: "/nowhere/redis-server"}.Open(t.Context(), nemesis.Setting{Nodes: 1, Clients: 1}, 1, new(history.Log))
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "apt-get install redis-server") {
		t.Errorf("got: %v", err)
	}
}

// A node fails over twice to what its replica had received: keys set long before are there,
// and keys set just before are not.
func TestFailover(t *testing.T) {
	for _, lag := range []time.Duration{100 * time.Millisecond, time.Second, 10 * time.Second} {
		late := failsOver(t, lag)
		if late == nil {
			return
		}
		t.Logf("with a lag of %v: %v; once more, with more time", lag, late)
	}
	t.Error("what was set long before is not kept, or what was set just before is")
}

// failsOver sets a key within the replication lag before each failover, or reports that it
// was too late.
func failsOver(t *testing.T, behind time.Duration) (late error) {
	lag := nemesis.Distribution{Range: nemesis.Range{Min: behind, Max: behind}}
	s := nemesis.Setting{
		Nodes: 2, Clients: 1, Persistence: nemesis.Nothing, Replication: &lag, Horizon: 10 * time.Minute,
		Plan: nemesis.Plan{
			{Action: &nemesis.Failover{Node: 1}, Start: nemesis.When(1, env.StepBeforeWrite, 0), End: nemesis.After(10 * time.Millisecond)},
			{Action: &nemesis.Failover{Node: 1}, Start: nemesis.When(1, env.StepAfterWrite, 0), End: nemesis.After(10 * time.Millisecond)},
		},
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
	within := func(d time.Duration, key string) env.Answer {
		r := w.Nodes(1).Send(1, env.Command{Op: env.OpSet, Key: key, Token: "a", TTL: time.Hour}, w.Runtime(1).Now(env.Monotonic).Add(d))
		reply, _ := r.Next(context.Background(), env.Never)
		return reply.Answer
	}
	set := func(key string) env.Answer { return within(2*time.Minute, key) }
	sleep := func(d time.Duration) {
		_ = w.Runtime(1).Sleep(context.Background(), w.Runtime(1).Now(env.Monotonic).Add(d))
	}
	err = w.Run(t.Context(), func(int) {
		for _, step := range []env.Step{env.StepBeforeWrite, env.StepAfterWrite} {
			old, young := "old "+step.String(), "young "+step.String()
			if got := set(old); got != env.Yes {
				t.Errorf("%v: the first answer is %v", step, got)
			}
			sleep(10 * behind)
			set(young)
			w.Reach(1, step, 0)
			answer := env.Lost
			for last := time.Now().Add(2 * time.Minute); answer != env.No && answer != env.Yes && time.Now().Before(last); sleep(time.Millisecond) {
				answer = within(time.Second, old)
			}
			if answer != env.No {
				late = fmt.Errorf("%v: what was set long before: %v", step, answer)
				return
			}
			if got := set(young); got != env.Yes {
				late = fmt.Errorf("%v: what was set just before: %v", step, got)
				return
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
	return late
}

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
