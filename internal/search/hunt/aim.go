package hunt

import (
	"math/rand/v2"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// needs is what a run needs so that it can violate a property, beyond the promise itself. A hunt for some
// properties aims each run at one of them: it rejects draws that do not have it.
type needs struct {
	// scenario reports whether the property can be violated in a scenario, under some plan.
	scenario func(scenarios.Scenario) bool
	// world reports whether it can be violated in a world with its plan. nil: in any.
	world func(nemesis.Setting) bool
}

// needsOf has the needs of the properties that most drawn scenarios or plans cannot violate.
var needsOf = map[checker.Property]needs{
	checker.Lease:           {scenario: competes},
	checker.Section:         {scenario: competes},
	checker.Effect:          {scenario: func(s scenarios.Scenario) bool { return competes(s) && all(s, updates) }},
	checker.Fence:           {scenario: func(s scenarios.Scenario) bool { return competes(s) && drawsFences(s) }},
	checker.DeadlockFreedom: {scenario: func(s scenarios.Scenario) bool { return competes(s) && s.Bounds.Grant > 0 }},
	checker.FaultTolerance:  {scenario: func(s scenarios.Scenario) bool { return s.Nodes > 2 && s.Bounds.Tries > 0 && len(s.Clients) == 1 }, world: losesNodes},
	checker.Cleanup:         {scenario: func(s scenarios.Scenario) bool { return s.Bounds.Cleanup > 0 }},
}

// losesNodes reports whether some nodes are out of a client's reach from the start on. Fault tolerance is judged by
// tries during which a minority is, and nothing changes: see [aimed].
func losesNodes(w nemesis.Setting) bool {
	return slices.ContainsFunc(w.Plan, func(f nemesis.Fault) bool {
		return f.Start == nemesis.At(0) && f.End == nil && f.Action.Effects(w).Does.Any(nemesis.TakesDown|nemesis.CutsLinks)
	})
}

func competes(s scenarios.Scenario) bool { return len(s.Clients) > 1 }

func all(s scenarios.Scenario, of func(scenarios.Client) bool) bool {
	return !slices.ContainsFunc(s.Clients, func(c scenarios.Client) bool { return !of(c) })
}

// updates reports whether a client reads and writes the guarded resource.
func updates(c scenarios.Client) bool { return c.Workload != "hold" && c.Workload != "misuse" }

// drawsFences reports whether the lock's grants bear fences: those of a lock in a store do.
func drawsFences(s scenarios.Scenario) bool {
	return s.Lock.Fence != "" || promises.StorageOf(s.Lock.Kind) == promises.InStore
}

// target draws the property at which a run is aimed, one of the wanted; "": none is wanted more than others.
func (h Hunt) target(random *rand.Rand) checker.Property {
	if len(h.Wanted) == 0 {
		return ""
	}
	return h.Wanted[random.IntN(len(h.Wanted))]
}

// suits reports whether a run of a scenario can break the promise of a property.
func (h Hunt) suits(s scenarios.Scenario, p checker.Property) bool {
	if p == "" {
		return true
	}
	_, promised := h.Terms(s)[p]
	can := needsOf[p].scenario
	return promised && (can == nil || can(s))
}

// meets reports whether the property can be violated in a world with its plan.
func meets(w nemesis.Setting, p checker.Property) bool {
	can := needsOf[p].world
	return can == nil || can(w)
}

// aimed returns the assumptions of a property, and what else a plan has to keep to so that it can be violated.
func aimed(a promises.Assumptions, s scenarios.Scenario, p checker.Property) promises.Assumptions {
	if p == checker.FaultTolerance && a.Away == nil {
		a.Away = new((s.Nodes - 1) / 2)
	}
	return a
}
