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

// breaks lists the kinds of faults that can break an assumption.
var breaks = map[checker.Assumption][]nemesis.Kind{
	checker.KeepsOrStaysAway:  {"crash", "shutdown", "power-loss", "old-snapshot", "failover", "vm-restore", "clock-jump"},
	checker.KeepsUntilExpiry:  {"evict"},
	checker.KeepsAcknowledged: {"crash", "shutdown", "power-loss", "old-snapshot", "failover", "vm-restore"},
	checker.ClockCounts:       {"suspend", "snapshot", "clock-freeze"},
	checker.OneMaster:         {"split-brain"},
	checker.ClocksAgree:       {"clock-jump", "clock-rate", "clock-slew", "clock-strobe", "clock-freeze", "suspend", "snapshot", "vm-restore"},
	checker.ArrivesOnce:       {"duplicate"},
	checker.OnlyHolder:        {"clone"},
	checker.DelaysDiffer:      {"clone"},
	checker.StopsInTime:       {"pause", "suspend", "snapshot"},
	checker.RefusesLate:       {"guard-latency", "pause", "suspend", "snapshot"},
	checker.WritesArrive:      {"guard-latency"},
	checker.Releases:          {"kill"},
	checker.KeysExpire:        {"clock-freeze", "clock-jump", "clock-rate", "kill"},
	checker.KeepersReached:    {"partition", "split", "peer-partition", "crash", "power-loss", "node-pause", "shutdown"},
}

// agreement compares the largest jump with the causes of the finding.
func (c *curve) agreement(jumps []Jump) Agreement {
	if len(jumps) == 0 {
		return NoJump
	}
	result := NoneNamed
	for _, cause := range c.finding.Causes {
		if cause.Assumption == "" {
			continue
		}
		if result = Differs; c.names(cause, jumps[0]) {
			return Agrees
		}
	}
	return result
}

// names reports whether a cause is about what happened at a jump.
func (c *curve) names(cause checker.Cause, j Jump) bool {
	instants := map[history.Time]bool{}
	for _, e := range j.After.What {
		if e.Kind == history.FaultStart && slices.Contains(breaks[cause.Assumption], nemesis.Kind(e.Name)) {
			return true
		}
		instants[e.Time] = true
		for at := range c.effects[e.Fault] {
			instants[at] = true
		}
	}
	delete(instants, 0) // not known
	return slices.ContainsFunc(cause.Evidence, func(e checker.Event) bool {
		return instants[e.From] || instants[e.To] || slices.ContainsFunc(e.Nodes, func(n checker.NodeTime) bool { return instants[n.At] })
	})
}
