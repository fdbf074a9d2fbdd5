package nemesis

import (
	"errors"
	"fmt"
	"time"
)

// Failover kills the master of a node at the start; at the end the node's
// asynchronous replica takes its place, with the changes that had reached it
// when the master died. The setting has to give the nodes replicas.
//
// A planned failover pauses the master's clients instead, as CLIENT PAUSE does, until at the end the
// replica, which has every change by then, takes its place. Nothing is lost, and nothing expires
// meanwhile. A migration of the key's slot that pauses writes is the same to a lock. In a setting with a
// store another member leads from then on, if the node did; its clock is the other member's own.
type Failover struct {
	Node     int  `yaml:"node" want:"1.. or all"`
	Planned  bool `yaml:"planned,omitempty"` // the master pauses its clients and hands over every change. Otherwise it dies
	Takeover `yaml:",inline"`
}

// Takeover is the machine on which a node's server goes on.
type Takeover struct {
	// ClockOffset is how far the wall clock of the machine that takes over is ahead of that of the machine
	// before; below 0: behind. Redis keeps the expiry of a key as wall time, so the offset is taken
	// from what each key has left to live, or added.
	ClockOffset time.Duration `yaml:"clock_offset,omitempty"`
}

// effects adds the step of a node's wall clock to the effects of a fault.
func (t Takeover) effects(node int, e Effects) Effects {
	if t.ClockOffset != 0 {
		e.Does |= StepsClock
		e.Clock = ClockError{Machine: Machine{Node: node}, Step: t.ClockOffset, AtEnd: true}
	}
	return e
}

// features are those of a fault that changes the clock of a node, if it does.
func (t Takeover) features(node int) []Feature {
	if t.ClockOffset == 0 {
		return nil
	}
	return Machine{Node: node}.features()
}

// String says how the clock differs, if it does.
func (t Takeover) String() string {
	switch {
	case t.ClockOffset > 0:
		return fmt.Sprintf(", whose wall clock is %v ahead", t.ClockOffset)
	case t.ClockOffset < 0:
		return fmt.Sprintf(", whose wall clock is %v behind", -t.ClockOffset)
	}
	return ""
}

// Kind is "failover".
func (*Failover) Kind() Kind { return "failover" }

func (*Failover) about() string {
	return "a node's master dies and, at the end, its asynchronous replica takes over"
}

func (f *Failover) String() string {
	if f.Planned {
		return fmt.Sprintf("%s hands over to its replica%v", nodeName(f.Node), f.Takeover)
	}
	return fmt.Sprintf("%s fails over to its replica%v", nodeName(f.Node), f.Takeover)
}

func (f *Failover) validate(s Setting) error { return field("node", f.requires(s)) }

func (f *Failover) requires(s Setting) error {
	handsOver := s.Store != nil && f.Planned && f.ClockOffset == 0
	if s.Replication == nil && !handsOver {
		return errors.New("no node has a replica: the setting has no replication")
	}
	return nil
}

func (f *Failover) node() *int { return &f.Node }

func (f *Failover) claims(Setting) []string { return []string{server(f.Node)} }

// Effects implements [Action].
func (f *Failover) Effects(Setting) Effects {
	e := Effects{Does: TakesDown | PromotesReplica, Away: just(f.Node), Outage: Outage{Node: f.Node, Loses: !f.Planned}}
	if f.Planned {
		e.Does |= StopsNode
	}
	return f.effects(f.Node, e)
}

// The features of failovers: of those that lose nothing, and of the others.
const (
	PlannedFeature   Feature = "failover: planned"
	UnplannedFeature Feature = "failover: not planned"
)

func (f *Failover) features() []Feature {
	list := f.Takeover.features(f.Node)
	if f.Planned {
		return append(list, PlannedFeature)
	}
	return append(list, UnplannedFeature)
}

func (f *Failover) simpler(Setting) Action {
	if usual := (Failover{Node: f.Node}); *f != usual {
		return &usual
	}
	return &Crash{Node: f.Node}
}

func (*Failover) ending() ending { return ending{} }

func (*Failover) random(g *paramGenerator) Action {
	newer := g.fromNewer()
	planned := newer.chance(40) && g.setting.Store == nil // as for client pauses
	return &Failover{Node: g.node(), Planned: planned, Takeover: newer.takeover()}
}
