package nemesis

import (
	"fmt"
	"time"
)

// OldSnapshot kills a node's server at the start; at the end it starts again
// from an old snapshot, whatever its persistence. Before the run a node is
// empty.
type OldSnapshot struct {
	Node int           `yaml:"node" want:"1.."`
	Age  time.Duration `yaml:"age" want:">0s.."` // of the snapshot, when the fault starts
}

// Kind is "old-snapshot".
func (*OldSnapshot) Kind() Kind { return "old-snapshot" }

func (o *OldSnapshot) String() string {
	return fmt.Sprintf("node %d dies, to restart from a snapshot %v old", o.Node, o.Age)
}

func (o *OldSnapshot) validate(s Setting) error {
	return field("node", oneOf("node", o.Node, s.Nodes))
}

func (o *OldSnapshot) targets(Setting) []string { return []string{server(o.Node)} }

func (*OldSnapshot) ending() ending { return ending{} }

func (*OldSnapshot) random(d *dice) Action {
	return &OldSnapshot{Node: d.node(), Age: max(d.length(), 1)}
}
