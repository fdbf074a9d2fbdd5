package runner_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// The cures and damages of a row or series are in its file, or beside it, in scenarios.

// owedToTheLock is what a scenario breaks by which lock it names: no change of
// what is done to the world cures it.
var owedToTheLock = []checker.Property{checker.Cleanup, checker.Contract}

// noFault is the cure of what names no other: it leaves of the plan only what shapes
// the world.
var noFault = scenarios.Change{What: "no fault", Apply: func(s *scenarios.Scenario) {
	s.Plan = slices.DeleteFunc(slices.Clone(s.Plan), func(f nemesis.Fault) bool { return !shapes(f) })
}}

// shapes reports whether a fault is part of the world and not something that
// happens in it: a partition from the beginning to the end, by which a client holds
// the lock on a bare majority. By itself it breaks nothing.
func shapes(f nemesis.Fault) bool {
	_, partition := f.Action.(*nemesis.Partition)
	return partition && f.Start == nemesis.At(0) && f.End == nil
}

// Law: the verdict follows the cause. A violation of a row or of a point of a series disappears
// with each of its cures alone or, if none is named, without the faults of its plan.
func TestVerdictFollowsTheCause(t *testing.T) {
	for _, r := range rows() {
		var cures []scenarios.Change
		for _, c := range r.Cures {
			cures = append(cures, scenarios.Change{What: c.What, Apply: c.Apply})
		}
		wantCured(t, r.Name, cures, r.Scenario)
	}
	for _, series := range scenarios.AllSeries() {
		var points []scenarios.Scenario
		for _, p := range series.Points {
			points = append(points, p.Scenario)
		}
		wantCured(t, series.Name+" (series)", series.Cures, points...)
	}
}

// wantCured tries the cures of what is called so. Points that are one experiment
// when they are cured are tried once.
func wantCured(t *testing.T, name string, cures []scenarios.Change, points ...scenarios.Scenario) {
	if len(cures) == 0 {
		cures = []scenarios.Change{noFault}
	}
	for _, c := range cures {
		var tried []scenarios.Scenario
		for _, s := range points {
			broken := breaks(s)
			if len(broken) == 0 {
				continue
			}
			s := altered(t, s, c.Apply)
			if slices.ContainsFunc(tried, func(other scenarios.Scenario) bool { return sameExperiment(s, other) }) {
				continue
			}
			tried = append(tried, s)
			t.Run(name+"/"+c.What, func(t *testing.T) {
				t.Parallel()
				wantHolds(t, simulator, s, 10, broken)
				if t.Failed() {
					t.Logf("%s should violate this no more: name in Cures, beside it in scenarios, what its violations come from", s.Name)
				}
			})
		}
	}
}

// sameExperiment reports whether two scenarios differ in their words alone.
func sameExperiment(s, other scenarios.Scenario) bool {
	other.Name, other.Summary, other.Expect = s.Name, s.Summary, s.Expect
	return reflect.DeepEqual(s, other)
}

// breaks returns what a scenario expects to be violated.
func breaks(s scenarios.Scenario) (broken []checker.Property) {
	for _, p := range checker.Properties() {
		if s.Expect[p] == checker.Violated && !slices.Contains(owedToTheLock, p) {
			broken = append(broken, p)
		}
	}
	return broken
}

// altered applies a change, which has to change something, and nothing that another
// test can see.
func altered(t *testing.T, s scenarios.Scenario, apply func(*scenarios.Scenario)) scenarios.Scenario {
	t.Helper()
	was := s
	apply(&s)
	if reflect.DeepEqual(was, s) {
		t.Errorf("%s is as it was: the change finds nothing to change", s.Name)
	}
	return s
}

// A property that a row shows to hold breaks without what it relies on: each of the row's damages
// lets it be violated. If none is named and lease exclusion holds, the row relies on nodes that
// keep their keys.
func TestHoldingScenariosCanFail(t *testing.T) {
	for _, r := range rows() {
		var damages []scenarios.Damage
		for _, d := range r.Damages {
			damages = append(damages, scenarios.Damage{Breaks: d.Breaks, What: d.What, Apply: d.Apply})
		}
		if len(damages) == 0 && r.Expect[checker.Lease] == checker.Holds {
			damages = []scenarios.Damage{forgetful}
		}
		for _, d := range damages {
			t.Run(r.Name+"/"+d.What, func(t *testing.T) {
				t.Parallel()
				if r.Expect[d.Breaks] == checker.Violated {
					t.Errorf("%s violates %s: there is nothing to break", r.Name, d.Breaks)
				}
				s := altered(t, r.Scenario, d.Apply)
				if !canViolate(t, s, d.Breaks) {
					t.Errorf("no run violates %s: name in Damages, beside %s in scenarios, what does", d.Breaks, r.Name)
				}
			})
		}
	}
	for _, series := range scenarios.AllSeries() {
		for _, d := range series.Damages {
			t.Run(series.Name+"/"+d.What, func(t *testing.T) {
				t.Parallel()
				for _, p := range series.Points {
					s := p.Scenario
					d.Apply(&s)
					if p.Expect[d.Breaks] == checker.Holds && canViolate(t, s, d.Breaks) {
						return
					}
				}
				t.Errorf("%s holds wherever it should, all the same", d.Breaks)
			})
		}
	}
}

// canViolate looks for a run that violates a property.
func canViolate(t *testing.T, s scenarios.Scenario, p checker.Property) bool {
	t.Helper()
	for seed := uint64(1); seed <= 50; seed++ {
		r, err := runner.Run(t.Context(), simulator, s, seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Report.Finding(p).Verdict == checker.Violated {
			return true
		}
	}
	return false
}

func rows() (all []scenarios.File) {
	for _, topic := range scenarios.Topics() {
		all = append(all, topic.Rows...)
	}
	return all
}

// forgetful makes all nodes forget each of the clients' first grants at once.
var forgetful = scenarios.Damage{Breaks: checker.Lease, What: "nodes that forget", Apply: func(s *scenarios.Scenario) {
	s.Plan = slices.Clone(s.Plan)
	for c := range s.Clients {
		for count := 1; count <= 5; count++ {
			start := nemesis.When(c+1, env.StepGranted, ms)
			start.Count = count
			for n := range s.Nodes {
				s.Plan = append(s.Plan, nemesis.Fault{Action: &nemesis.Evict{Node: n + 1}, Start: start})
			}
		}
	}
}}
