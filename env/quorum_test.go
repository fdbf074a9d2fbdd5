package env_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/env"
)

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
