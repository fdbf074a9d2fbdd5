package scenarios

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Law: every contender can enter every trial, and what comes of it is a scenario
// like any other: found by its name, which no row or point has, printed and read.
func TestEveryContenderEntersEveryTrial(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Every() {
		if seen[s.Name] {
			t.Errorf("%s is there twice", s.Name)
		}
		seen[s.Name] = true
	}
	for _, trial := range Trials() {
		for _, c := range Contenders() {
			s := trial.Enter(c)
			if err := s.Validate(); err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
			if seen[s.Name] || c.Summary == "" || trial.Summary == "" {
				t.Errorf("%s is there twice, or without a summary", s.Name)
			}
			seen[s.Name] = true
			if found, err := Find(s.Name); err != nil || !reflect.DeepEqual(found, s) {
				t.Errorf("%s: found %+v, %v", s.Name, found, err)
			}
			var text bytes.Buffer
			if err := s.Print(&text); err != nil {
				t.Fatal(err)
			}
			if read, err := Parse(text.Bytes()); err != nil || !reflect.DeepEqual(read, s) {
				t.Errorf("%s: printed %+v\nread %+v, %v", s.Name, s, read, err)
			}
		}
	}
	if Trials()[0].Name != Calm || Trials()[0].plan != nil {
		t.Error("the first trial is not the calm one")
	}
}

// Law: trials fit deployments of any size and quorum, with replicas, a store or
// neither.
func TestTrialsFitDeployments(t *testing.T) {
	lag := &nemesis.Distribution{Range: span(ms, 10*ms)}
	store := &nemesis.Store{Election: *lag, Commit: *lag}
	rising := []int{1, 2, 3, 4, 5, 6, 7, 8, 9} // votes
	for nodes := 1; nodes <= 9; nodes++ {
		for _, d := range []Deployment{
			{Nodes: nodes, Persistence: nemesis.Nothing},
			{Nodes: nodes, Persistence: nemesis.Nothing, Quorum: env.Quorum{Weights: rising[:nodes]}},
			{Nodes: nodes, Persistence: nemesis.Always, Replication: lag},
			{Nodes: nodes, Persistence: nemesis.Always, Store: store, Guard: guard.Fenced, Fence: true},
		} {
			for _, trial := range Trials() {
				s := trial.Enter(Contender{Name: "mine", Summary: "mine", Lock: quickLock, Deployment: d})
				if err := s.Validate(); err != nil {
					t.Errorf("%s on %d nodes: %v", trial.Name, nodes, err)
				}
				if s.Clients[0].Fence != d.Fence || contestants[0].Fence {
					t.Errorf("%s: clients show a fence: %v", trial.Name, s.Clients[0].Fence)
				}
			}
		}
	}
}

// A node that has a replica does not come back: its replica does.
func TestCrashOfANodeWithAReplica(t *testing.T) {
	d := independent()
	if _, ok := d.crash(time.Second).Action.(*nemesis.Crash); !ok {
		t.Error("without a replica it is no crash")
	}
	d.Replication = &nemesis.Distribution{}
	if _, ok := d.crash(time.Second).Action.(*nemesis.Failover); !ok {
		t.Error("with a replica it is no failover")
	}
}

// A trial's text about nodes is true for any quorum: client 1 is left with a quorum that it loses
// when the node crashes, and is cut off from one.
func TestPlansTakeJustEnoughNodes(t *testing.T) {
	for _, q := range []env.Quorum{env.Majority(5), {Weights: []int{1, 1, 1, 1, 3}}, {Weights: []int{2, 1, 1, 2, 1}}, {Voters: env.SetOf(2, 3, 5)}} {
		d := Deployment{Nodes: 5, Quorum: q}
		left := env.AllNodes(5)
		for _, f := range d.bareQuorum() {
			left &^= env.SetOf(f.Action.(*nemesis.Partition).Nodes...)
		}
		crash := d.crash(0).Action.(*nemesis.Crash)
		if q = d.quorum(); !q.Has(left) || q.Has(left.Without(crash.Node)) {
			t.Errorf("%+v: client 1 reaches %v, and node %d crashes", q, left.List(), crash.Node)
		}
		for _, trial := range Trials() {
			if trial.Name == "cut-off" {
				away := env.SetOf(trial.plan(d)[0].Action.(*nemesis.Partition).Nodes...)
				if !q.Has(away) || q.Has(env.AllNodes(5)&^away) {
					t.Errorf("%+v: client 1 is cut off from %v", q, away.List())
				}
			}
		}
	}
}
