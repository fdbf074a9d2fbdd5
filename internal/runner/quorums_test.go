package runner

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/scenarios"
)

// among is a variant of Redlock with a quorum of its own.
func among(q env.Quorum) lockKind {
	return redlockKind("among", "in tests only", "", func(_ scenarios.Lock, c *redlock.Config) { c.Quorum = q })
}

func kind(t *testing.T, name string) lockKind {
	t.Helper()
	k, err := findLock(name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// The header of a history says whose keys hold the lock, as short as it can.
func TestHeaderSaysWhoHoldsTheLock(t *testing.T) {
	for _, c := range []struct {
		of   lockKind
		want history.Header
	}{
		{kind(t, "redlock"), history.Header{}},
		{kind(t, "single-node"), history.Header{Keepers: 1}},
		{kind(t, "etcd"), history.Header{Keepers: -1}},
		{among(env.Quorum{Voters: env.SetOf(1, 2, 3)}), history.Header{Keepers: 3}},
		{among(env.Quorum{Voters: env.SetOf(2, 5)}), history.Header{Votes: []int{0, 1, 0, 0, 1}}},
		{among(env.Quorum{Weights: []int{3, 1, 1, 1, 1}}), history.Header{Votes: []int{3, 1, 1, 1, 1}}},
	} {
		got := history.Header{Nodes: 5}
		c.of.describe(&got, scenarios.Lock{TTL: time.Second})
		c.want.Nodes, c.want.Allowance = 5, 2*time.Millisecond
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.of.name, got, c.want)
		}
	}
}

// A quorum that does not fit the nodes is refused before the run.
func TestQuorumHasToFitTheNodes(t *testing.T) {
	s, err := scenarios.Find("calm")
	if err != nil {
		t.Fatal(err)
	}
	for want, q := range map[string]env.Quorum{
		"":                              {Weights: []int{3, 1, 1, 1, 1}},
		"node 6 is to vote, of 5 nodes": env.Majority(7),
	} {
		if _, err := among(q).configured(Backend{Ability: nemesis.Ability{Name: "sim"}}, s); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q", q, err, want)
		}
	}
}

// Law: the trials of a lock on a quorum of nodes take away what that lock needs.
func TestContendersAreTriedOnTheirQuorum(t *testing.T) {
	for _, c := range scenarios.Contenders() {
		if c.Family != scenarios.FamilyQuorum {
			continue
		}
		if needs, tried := kind(t, c.Lock.Kind).quorum(c.Lock).Among(c.Nodes), c.Quorum.Among(c.Nodes); !reflect.DeepEqual(needs, tried) {
			t.Errorf("%s: the lock has the quorum %+v, its deployment %+v", c.Name, needs, tried)
		}
	}
}
