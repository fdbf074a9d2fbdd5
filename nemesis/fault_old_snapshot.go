package nemesis

import (
	"fmt"
	"time"
)

// OldSnapshot kills a node's server at the start; at the end it starts again
// from an old snapshot, whatever its persistence. Before the run a node is
// empty.
type OldSnapshot struct {
	Node     int           `yaml:"node" want:"1.. or all"`
	Age      time.Duration `yaml:"age" want:">0s.."` // of the snapshot, when the fault starts
	Takeover `yaml:",inline"`
}

// Kind is "old-snapshot".
func (*OldSnapshot) Kind() Kind { return "old-snapshot" }

func (*OldSnapshot) about() string {
	return "a node's server dies and, at the end, starts again from an old snapshot"
}

func (o *OldSnapshot) String() string {
	text := fmt.Sprintf("%s dies, to restart from a snapshot %v old", nodeName(o.Node), o.Age)
	if o.ClockOffset != 0 {
		text += " on a machine" + o.Takeover.String()
	}
	return text
}

func (o *OldSnapshot) node() *int { return &o.Node }

func (o *OldSnapshot) claims(Setting) []string { return []string{server(o.Node)} }

// Effects implements [Action].
func (o *OldSnapshot) Effects(Setting) Effects {
	return o.effects(o.Node, Effects{Does: TakesDown | ReturnsOld, Away: just(o.Node), Outage: Outage{Node: o.Node, Loses: true}})
}

func (o *OldSnapshot) features() []Feature { return o.Takeover.features(o.Node) }

func (o *OldSnapshot) simpler(Setting) Action {
	if usual := (OldSnapshot{Node: o.Node, Age: o.Age}); *o != usual {
		return &usual
	}
	return &Crash{Node: o.Node}
}

func (*OldSnapshot) ending() ending { return ending{} }

func (*OldSnapshot) random(g *paramGenerator) Action {
	return &OldSnapshot{Node: g.node(), Age: max(g.length(), 1), Takeover: g.fromNewer().takeover()}
}
