package nemesis

import (
	"fmt"
	"slices"
)

// Partition cuts links between clients and nodes. Messages over a cut link are held
// back, as TCP does, and may arrive after the end.
type Partition struct {
	Links `yaml:",inline"`
	Way   Direction `yaml:"way,omitempty" want:"requests|replies"`
}

// Kind is "partition".
func (*Partition) Kind() Kind { return "partition" }

func (*Partition) about() string {
	return "messages between clients and nodes are held back, and delivered when the fault ends"
}

func (p *Partition) String() string {
	what := "are cut off"
	switch p.Way {
	case Requests:
		what = "cannot be sent requests"
	case Replies:
		what = "cannot reply"
	}
	if len(p.Nodes) <= 1 && p.Way == Both { // one node, or every node
		what = "is cut off"
	}
	return fmt.Sprintf("%s %s, from %s", listed("node", p.Nodes), what, listed("client", p.Clients))
}

func (p *Partition) claims(s Setting) []string { return p.named(connectivity, s) }

// Over implements [Traffic].
func (p *Partition) Over(Setting) ([]Links, Direction) { return []Links{p.Links}, p.Way }

// Rule implements [Traffic].
func (*Partition) Rule(func() uint64) Rule { return HoldAll() }

// Effects implements [Action].
func (p *Partition) Effects(s Setting) Effects { return Effects{Does: CutsLinks, Away: p.nodes(s)} }

func (*Partition) ending() ending { return ending{} }

func (*Partition) random(g *paramGenerator) Action {
	return &Partition{Links: g.links(), Way: g.direction()}
}

// few implements enumerable: each node is cut off from every client, and each client from every node.
func (*Partition) few(p fewParams) []Fault {
	cut := func(l Links) []Fault { return []Fault{{Action: &Partition{Links: l}, End: After(p.scale)}} }
	return slices.Concat(
		p.eachNode(func(node int) []Fault { return cut(Links{Nodes: []int{node}}) }),
		p.eachClient(func(client int) []Fault { return cut(Links{Clients: []int{client}}) }))
}
