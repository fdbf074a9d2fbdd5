package storm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// drawingFrom is fence-from-redlock with fences from elsewhere.
func drawingFrom(t *testing.T, source string, clients []scenarios.Client, plan ...nemesis.Fault) scenarios.Scenario {
	s := find(t, "fence-from-redlock")
	s.Lock.Fence = source
	s.Clients, s.Setting.Clients, s.Plan = clients, len(clients), plan
	return s
}

// confinedTo cuts a client off from all of five nodes but some.
func confinedTo(client int, nodes env.NodeSet) nemesis.Fault {
	var others []int
	for n := 1; n <= 5; n++ {
		if !nodes.Has(n) {
			others = append(others, n)
		}
	}
	return nemesis.Fault{Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{client}, Nodes: others}}, Start: nemesis.At(0)}
}

// inTurn are clients of which each begins when the one before has released.
func inTurn(n int) (all []scenarios.Client) {
	for i := range n {
		all = append(all, oneSection(time.Duration(i)*200*ms, 20*ms))
	}
	return all
}

// The three ways to make fences out of Redis, with the verdicts of the catalogue,
// and each with what its verdict rests on.
func TestFenceSources(t *testing.T) {
	quorums := []nemesis.Fault{confinedTo(1, env.SetOf(1, 2, 3)), confinedTo(2, env.SetOf(1, 4, 5)), confinedTo(3, env.SetOf(2, 3, 4))}
	forgets := at(nemesis.When(1, env.StepReleased, 20*ms), &nemesis.Crash{Node: 1}, nemesis.After(0))
	late := paused(nemesis.When(1, env.StepBeforeWrite, 0), 2*time.Second)
	rivals := rivals(t)
	for _, c := range []struct {
		row  string
		run  scenarios.Scenario
		want checker.Verdict
	}{
		{"increment", drawingFrom(t, "increment", inTurn(3), quorums...), checker.Violated},
		{"increment, every client reaches the same nodes", drawingFrom(t, "increment", inTurn(3), bareNodes), checker.Holds},
		{"quorum, in the plan that breaks increment", drawingFrom(t, "quorum", inTurn(3), quorums...), checker.Holds},
		{"one-node", drawingFrom(t, "one-node", rivals, late), checker.Holds},
		{"one-node, lost", drawingFrom(t, "one-node", inTurn(2), forgets), checker.Violated},
		{"one-node, lost and kept", changed(keeping(nemesis.Always), drawingFrom(t, "one-node", inTurn(2), forgets)), checker.Holds},
		{"quorum, one node lost", drawingFrom(t, "quorum", inTurn(2), forgets), checker.Holds},
	} {
		t.Run(c.row, func(t *testing.T) {
			t.Parallel()
			tally := runs(t, c.run, 50)
			if got := tally.Observed(checker.Fence); got != c.want {
				t.Errorf("%v, want %v: %s", got, c.want, tally.First[checker.Fence].Report.Finding(checker.Fence).Story)
			}
			if got := tally.Observed(checker.Lease); got != checker.Holds {
				t.Errorf("lease exclusion: %v", got)
			}
		})
	}
}

// bareNodes leaves everybody nodes 1, 2 and 3.
var bareNodes = nemesis.Fault{Action: &nemesis.Partition{Links: nemesis.Links{Nodes: []int{4, 5}}}, Start: nemesis.At(0)}

// The pair of grants is named: clients 2 and 3 both got 2.
func TestStoryOfFencesThatDoNotGrow(t *testing.T) {
	s := drawingFrom(t, "increment", inTurn(3), confinedTo(1, env.SetOf(1, 2, 3)), confinedTo(2, env.SetOf(1, 4, 5)), confinedTo(3, env.SetOf(2, 3, 4)))
	got := runs(t, s, 1).First[checker.Fence].Report.Finding(checker.Fence).Story
	for _, want := range []string{"client 2", "client 3", "fence 2"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// Fences of one node are gone with it: then there is no lock, though four of five
// nodes are there. Those of a quorum go on.
func TestFenceOfOneNodeIsGoneWithIt(t *testing.T) {
	dead := nemesis.Fault{Action: &nemesis.Crash{Node: 1}, Start: nemesis.At(0)}
	for source, want := range map[string]checker.Verdict{"one-node": checker.Violated, "quorum": checker.Holds, "increment": checker.Holds} {
		s := drawingFrom(t, source, []scenarios.Client{oneSection(50*ms, 20*ms)}, dead)
		s.Bounds.Tries = 3
		if got := runs(t, s, 20).Observed(checker.FaultTolerance); got != want {
			t.Errorf("%s: %v, want %v", source, got, want)
		}
	}
}
