package env_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
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

// quorum draws one of up to so many nodes, weighted or not.
func quorum(t *rapid.T, most int) (q env.Quorum, nodes int) {
	nodes = rapid.IntRange(1, most).Draw(t, "nodes")
	q.Voters = env.NodeSet(rapid.Uint64Range(1, uint64(env.AllNodes(nodes))).Draw(t, "voters"))
	if rapid.Bool().Draw(t, "weighted") {
		q.Weights = make([]int, nodes)
		for _, n := range q.Voters.List() {
			q.Weights[n-1] = rapid.IntRange(1, 5).Draw(t, "weight")
		}
	}
	if err := q.Validate(nodes); err != nil {
		t.Fatal(err)
	}
	return q, nodes
}

func someOf(t *rapid.T, set env.NodeSet, name string) env.NodeSet {
	return set & env.NodeSet(rapid.Uint64().Draw(t, name))
}

// Law: two quorums always share a node.
func TestQuorumsShareANode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, nodes := quorum(t, env.MaxNodes)
		one := someOf(t, env.AllNodes(nodes), "one")
		other := someOf(t, env.AllNodes(nodes)&^one, "other")
		if q.Has(one) && q.Has(other) {
			t.Fatalf("%+v: %v and %v are quorums", q, one.List(), other.List())
		}
	})
}

// Law: all voters are a quorum, nobody is none, and who joins a quorum does not
// unmake it.
func TestQuorumsGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, nodes := quorum(t, env.MaxNodes)
		set := someOf(t, env.AllNodes(nodes), "set")
		more := set | someOf(t, env.AllNodes(nodes), "more")
		if !q.Has(q.Voters) || q.Has(0) || q.Has(set) && !q.Has(more) {
			t.Fatalf("%+v: of all %v, of none %v, of %v %v, of %v %v", q, q.Has(q.Voters), q.Has(0), set.List(), q.Has(set), more.List(), q.Has(more))
		}
	})
}

// Law: a bare quorum is one, and no set of fewer nodes is.
func TestBareQuorum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, nodes := quorum(t, 8)
		bare := q.Bare()
		if !q.Has(bare) {
			t.Fatalf("%+v: %v is none", q, bare.List())
		}
		for s := env.NodeSet(0); s <= env.AllNodes(nodes); s++ {
			if s.Len() < bare.Len() && q.Has(s) {
				t.Fatalf("%+v: %v is smaller than %v", q, s.List(), bare.List())
			}
		}
	})
}

// Law: one vote each is a majority.
func TestMajority(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, env.MaxNodes).Draw(t, "nodes")
		set := someOf(t, env.AllNodes(nodes), "set")
		ones := make([]int, nodes)
		for i := range ones {
			ones[i] = 1
		}
		for _, q := range []env.Quorum{env.Majority(nodes), env.Quorum{}.Among(nodes), env.Quorum{Weights: ones}.Among(nodes)} {
			if q.Has(set) != (set.Len() > nodes/2) {
				t.Fatalf("%+v of %d nodes: %v: %v", q, nodes, set.List(), q.Has(set))
			}
		}
	})
}

func TestImpossibleQuorums(t *testing.T) {
	for want, q := range map[string]env.Quorum{
		"node 4 is to vote, of 3 nodes":          {Voters: env.SetOf(1, 4)},
		"2 weights of 3 nodes":                   {Weights: []int{1, 1}},
		"node 2 has 0 votes: want 1 to":          {Weights: []int{1, 0, 1}},
		"node 3 has 1000001 votes":               {Weights: []int{1, 1, env.MaxWeight + 1}},
		"node 2 has 1 votes, and is not to vote": {Voters: env.SetOf(1), Weights: []int{1, 1, 0}},
	} {
		if err := q.Validate(3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q", q, err, want)
		}
	}
}
