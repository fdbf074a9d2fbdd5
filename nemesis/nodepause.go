package nemesis

import "fmt"

// NodePause makes a node's server stand still, as SIGSTOP does. Its clock runs
// on; requests wait in its socket and are carried out, in their order, when it
// continues.
type NodePause struct {
	Node int `yaml:"node" want:"1.."`
}

// Kind is "node-pause".
func (*NodePause) Kind() Kind { return "node-pause" }

func (p *NodePause) String() string { return fmt.Sprintf("node %d stands still", p.Node) }

func (p *NodePause) validate(s Setting) error { return field("node", oneOf("node", p.Node, s.Nodes)) }

func (p *NodePause) targets(Setting) []string { return []string{server(p.Node)} }

func (*NodePause) ending() ending { return ending{} }

func (*NodePause) random(d *dice) Action { return &NodePause{Node: d.node()} }
