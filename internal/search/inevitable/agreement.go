package inevitable

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Agreement compares the largest jump with the cause that the checker names.
type Agreement string

// The agreements.
const (
	// Agrees: at the jump a fault begins that can break the assumption which the checker names, or
	// something happens that the checker names as evidence.
	Agrees Agreement = "agrees"

	// Differs: the checker names something else.
	Differs Agreement = "differs"

	// NoneNamed: the checker names no broken assumption.
	NoneNamed Agreement = "none named"

	// NoJump: the probability does not jump.
	NoJump Agreement = "no jump"
)

// breaks says what breaks an assumption.
var breaks = map[checker.Assumption]nemesis.Effect{
	checker.KeepsOrStaysAway:  nemesis.TakesDown | nemesis.StepsClock,
	checker.KeepsUntilExpiry:  nemesis.Evicts,
	checker.KeepsAcknowledged: nemesis.TakesDown,
	checker.ClockCounts:       nemesis.StopsMachine | nemesis.FreezesWall,
	checker.OneMaster:         nemesis.SplitsMaster,
	checker.ClocksAgree:       nemesis.StepsClock | nemesis.WandersClock | nemesis.StopsMachine | nemesis.KeepsRunID,
	checker.ArrivesOnce:       nemesis.Duplicates,
	checker.OnlyHolder:        nemesis.Clones,
	checker.DelaysDiffer:      nemesis.Clones,
	checker.StopsInTime:       nemesis.StopsClient,
	checker.RefusesLate:       nemesis.StopsClient | nemesis.DelaysAccess,
	checker.WritesArrive:      nemesis.DelaysAccess,
	checker.Releases:          nemesis.EndsClient,
	checker.KeysExpire:        nemesis.StepsClock | nemesis.WandersClock | nemesis.EndsClient,
	checker.KeepersReached:    nemesis.CutsLinks | nemesis.CutsPeers | nemesis.TakesDown | nemesis.StopsNode,
}

// agreement compares the largest jump with the causes of the finding.
func (p *past) agreement(jumps []Jump) Agreement {
	if len(jumps) == 0 {
		return NoJump
	}
	result := NoneNamed
	for _, cause := range p.finding.Causes {
		if cause.Assumption == "" {
			continue
		}
		if result = Differs; p.names(cause, jumps[0]) {
			return Agrees
		}
	}
	return result
}

// names reports whether a cause is about what happened at a jump.
func (p *past) names(cause checker.Cause, j Jump) bool {
	instants := map[history.Time]bool{}
	for _, e := range j.After.What {
		if e.Kind == history.FaultStart && nemesis.Kind(e.Name).Does(breaks[cause.Assumption]) {
			return true
		}
		instants[e.Time] = true
		for at := range p.effects[e.Fault] {
			instants[at] = true
		}
	}
	delete(instants, 0) // not known
	return slices.ContainsFunc(cause.Evidence, func(e checker.Event) bool {
		return instants[e.From] || instants[e.To] || slices.ContainsFunc(e.Nodes, func(n checker.NodeTime) bool { return instants[n.At] })
	})
}
