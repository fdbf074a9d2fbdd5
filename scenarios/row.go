package scenarios

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Row is a scenario of the debate, and what is known of it beside what its file
// says. The tests of storm hold it to that.
type Row struct {
	Scenario

	// VariantOf is the row, before this one in its topic, that this one shows once
	// more in another way. The table in README.md leaves variants out.
	VariantOf string

	// Cures are changes each of which lets hold all that the row violates. A row whose
	// violations come from the faults of its plan is cured by taking those away,
	// and need not say so.
	Cures []Change

	// Damages are changes that break what the row shows to hold. A row that rests on
	// nothing but that nodes keep their keys is damaged by making them forget, and
	// need not say so.
	Damages []Damage
}

// Change makes one thing of a scenario different.
type Change struct {
	What  string // there is then, as in "a node that keeps its keys"
	Apply func(s *Scenario)
}

// Damage is a change that lets a property be violated.
type Damage struct {
	Breaks checker.Property
	What   string // there is then, or no longer, as in "no delay"
	Apply  func(s *Scenario)
}

// without takes the faults of a kind out of the plan.
func without(kind nemesis.Kind) func(*Scenario) {
	return func(s *Scenario) {
		s.Plan = slices.DeleteFunc(slices.Clone(s.Plan), func(f nemesis.Fault) bool { return f.Action.Kind() == kind })
	}
}

// instead does something else at the times of a kind's faults.
func instead(kind nemesis.Kind, a nemesis.Action) func(*Scenario) {
	return each(kind, func(f *nemesis.Fault) { f.Action = a })
}

// endAfter makes the faults of a kind end so long after their start.
func endAfter(kind nemesis.Kind, length time.Duration) func(*Scenario) {
	return each(kind, func(f *nemesis.Fault) { f.End = nemesis.After(length) })
}

func each(kind nemesis.Kind, change func(*nemesis.Fault)) func(*Scenario) {
	return func(s *Scenario) {
		s.Plan = slices.Clone(s.Plan)
		for i := range s.Plan {
			if s.Plan[i].Action.Kind() == kind {
				change(&s.Plan[i])
			}
		}
	}
}

// replan makes these faults the plan.
func replan(plan ...nemesis.Fault) func(*Scenario) {
	return func(s *Scenario) { s.Plan = plan }
}

// also adds faults to the plan.
func also(faults ...nemesis.Fault) func(*Scenario) {
	return func(s *Scenario) { s.Plan = slices.Concat(s.Plan, faults) }
}

func persist(p nemesis.Persistence) func(*Scenario) {
	return func(s *Scenario) { s.Persistence = p }
}

func readClock(c env.Clock) func(*Scenario) {
	return func(s *Scenario) { s.Lock.Clock = c.String() }
}

func fenceFrom(source string) func(*Scenario) {
	return func(s *Scenario) { s.Lock.Fence = source }
}

func guardBy(mode guard.Mode) func(*Scenario) {
	return func(s *Scenario) { s.Guard = mode }
}
