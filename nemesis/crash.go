package nemesis

import "fmt"

// Crash kills a node's server at the start and starts it again at the end. It
// comes back with what its persistence kept.
type Crash struct {
	Node int `yaml:"node"`
}

// Kind is "crash".
func (*Crash) Kind() Kind { return "crash" }

func (c *Crash) String() string { return fmt.Sprintf("node %d crashes", c.Node) }

func (c *Crash) validate(s Setting) error { return field("node", oneOf("node", c.Node, s.Nodes)) }

func (c *Crash) targets(Setting) []string { return []string{fmt.Sprintf("node %d", c.Node)} }

func (*Crash) ending() ending { return ending{} }
