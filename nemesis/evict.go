package nemesis

import "fmt"

// Evict makes a node evict its volatile keys at once, as a server does that is
// short of memory. All keys of locks are volatile. A server that is down evicts
// nothing.
type Evict struct {
	Node int `yaml:"node" want:"1.."`
}

// Kind is "evict".
func (*Evict) Kind() Kind { return "evict" }

func (e *Evict) String() string { return fmt.Sprintf("node %d evicts its keys", e.Node) }

func (e *Evict) validate(s Setting) error { return field("node", oneOf("node", e.Node, s.Nodes)) }

func (e *Evict) targets(Setting) []string {
	return []string{fmt.Sprintf("the memory of node %d", e.Node)}
}

func (*Evict) ending() ending { return ending{none: "keys that are evicted do not come back"} }

func (*Evict) random(d *dice) Action { return &Evict{Node: d.node()} }
