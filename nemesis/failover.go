package nemesis

import (
	"errors"
	"fmt"
)

// Failover kills the master of a node at the start; at the end the node's
// asynchronous replica takes its place, with the changes that had reached it
// when the master died. The setting has to give the nodes replicas.
type Failover struct {
	Node int `yaml:"node" want:"1.."`
}

// Kind is "failover".
func (*Failover) Kind() Kind { return "failover" }

func (f *Failover) String() string {
	return fmt.Sprintf("node %d fails over to its replica", f.Node)
}

func (f *Failover) validate(s Setting) error {
	if err := oneOf("node", f.Node, s.Nodes); err != nil {
		return field("node", err)
	}
	return field("node", f.lacks(s))
}

func (*Failover) lacks(s Setting) error {
	if s.Replication == nil {
		return errors.New("no node has a replica: the setting has no replication")
	}
	return nil
}

func (f *Failover) targets(Setting) []string { return []string{server(f.Node)} }

func (*Failover) ending() ending { return ending{} }

func (*Failover) random(d *dice) Action { return &Failover{Node: d.node()} }
