package env_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/env"
)

// Law: a node set is a set of the numbers 1 to 64.
func TestNodeSetIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, model := env.NodeSet(0), map[int]bool{}
		for range rapid.IntRange(0, 100).Draw(t, "steps") {
			n := rapid.IntRange(1, env.MaxNodes).Draw(t, "node")
			if rapid.Bool().Draw(t, "add") {
				set, model[n] = set.With(n), true
			} else {
				set = set.Without(n)
				delete(model, n)
			}
		}
		first := 0
		for n := env.MaxNodes; n >= 1; n-- {
			if set.Has(n) != model[n] {
				t.Fatalf("node %d: %v, want %v", n, set.Has(n), model[n])
			}
			if model[n] {
				first = n
			}
		}
		if set.Len() != len(model) || set.First() != first {
			t.Fatalf("%d nodes from %d on, want %d from %d on", set.Len(), set.First(), len(model), first)
		}
	})
}

func TestAllNodes(t *testing.T) {
	if got, want := env.AllNodes(3), env.SetOf(1, 2, 3); got != want {
		t.Errorf("%b, want %b", got, want)
	}
	if got := env.AllNodes(env.MaxNodes).Len(); got != env.MaxNodes {
		t.Errorf("%d nodes of %d", got, env.MaxNodes)
	}
}

// Law: every step has a name of its own, by which it is found.
func TestStepsHaveNames(t *testing.T) {
	for _, s := range env.Steps() {
		if got, err := env.ParseStep(s.String()); err != nil || got != s {
			t.Errorf("%v: found %v, %v", s, got, err)
		}
	}
	if _, err := env.ParseStep("tea-break"); err == nil {
		t.Error("there is no such step")
	}
}

func TestInstantsDoNotPassNever(t *testing.T) {
	for _, got := range []env.Instant{env.Never.Add(time.Hour), env.Never.Add(-time.Hour), env.Instant(math.MaxInt64 - 5).Add(6)} {
		if got != env.Never {
			t.Errorf("got %d", got)
		}
	}
	if got := env.Instant(5).Add(time.Nanosecond).Sub(2); got != 4 {
		t.Errorf("got %v", got)
	}
}

func TestSystem(t *testing.T) {
	r := env.System()
	before := r.Now(env.Monotonic)
	if err := r.Sleep(context.Background(), before.Add(time.Millisecond)); err != nil || r.Now(env.Monotonic) < before.Add(time.Millisecond) {
		t.Errorf("slept until %d of %d, %v", r.Now(env.Monotonic), before.Add(time.Millisecond), err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	sleeper := r.Go("sleeper", func() {
		if err := r.Sleep(ctx, env.Never); !errors.Is(err, context.Canceled) {
			t.Errorf("the sleep ended with %v", err)
		}
	})
	waiting, giveUp := context.WithCancel(context.Background())
	giveUp()
	if err := sleeper.Wait(waiting); !errors.Is(err, context.Canceled) {
		t.Errorf("the wait for a sleeper ended with %v", err)
	}
	cancel()
	if err := sleeper.Wait(context.Background()); err != nil {
		t.Error(err)
	}

	a, b := make([]byte, 20), make([]byte, 20)
	r.Random(a)
	r.Random(b)
	if slices.Equal(a, b) {
		t.Errorf("drew %x twice", a)
	}
	if wall := time.Unix(0, int64(r.Now(env.Wall))); time.Since(wall).Abs() > time.Minute {
		t.Errorf("the wall clock shows %v", wall)
	}
}
