package nemesis

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/env"
)

// PeerPartition cuts the links between nodes of a store: the given nodes cannot reach the other
// ones. They reach each other, as the others do, and clients still reach all of them. Messages over
// a cut link are held back as in a [Partition].
//
// A node that does not reach a majority cannot lead, and does not answer requests. The setting has to
// give the nodes a store that loses nothing that it has answered: otherwise a leader that is cut off
// would go on answering, which is not modelled.
type PeerPartition struct {
	Nodes []int `yaml:"nodes,flow" want:"1.."` // numbers of the nodes that are cut off from the others; not all of them
}

// Kind is "peer-partition".
func (*PeerPartition) Kind() Kind { return "peer-partition" }

func (*PeerPartition) about() string {
	return "nodes of a store cannot reach the other nodes; clients still reach all of them"
}

func (p *PeerPartition) String() string {
	return fmt.Sprintf("%s cannot reach the other nodes", listed("node", p.Nodes))
}

func (p *PeerPartition) validate(s Setting) error {
	err := p.requires(s)
	switch {
	case err != nil:
	case len(p.Nodes) == 0:
		err = errors.New("none in the list: name the nodes that are cut off from the others")
	case len(p.Nodes) >= s.Nodes:
		err = errors.New("no node is left that they could be cut off from")
	}
	return field("nodes", err)
}

func (*PeerPartition) requires(s Setting) error {
	switch {
	case s.Store == nil:
		return errors.New("the nodes do not talk to each other: the setting has no store")
	case s.Nodes < 2:
		return errors.New("a single node has no others")
	case s.Store.Forgets():
		return errors.New("a store with asynchronous replication or durability off would have two leaders, which is not modelled")
	}
	return nil
}

// Two faults of this kind always have a link in common.
func (*PeerPartition) claims(Setting) []string { return []string{"the links between the nodes"} }

// Effects implements [Action].
func (p *PeerPartition) Effects(s Setting) Effects {
	return Effects{Does: CutsPeers, Away: env.SetOf(p.Minority(s.Nodes)...)}
}

func (p *PeerPartition) simpler(Setting) Action {
	if len(p.Nodes) == 1 {
		return &Crash{Node: p.Nodes[0]}
	}
	return nil
}

func (*PeerPartition) ending() ending { return ending{} }

func (*PeerPartition) random(g *paramGenerator) Action {
	left := g.node() // a node that is not named
	p := &PeerPartition{}
	for _, node := range Each(g.some(g.setting.Nodes-1), g.setting.Nodes-1) {
		if node >= left {
			node++
		}
		p.Nodes = append(p.Nodes, node)
	}
	return p
}

// Apart reports whether the fault cuts the link between two nodes.
func (p *PeerPartition) Apart(a, b int) bool {
	return slices.Contains(p.Nodes, a) != slices.Contains(p.Nodes, b)
}

// Minority returns the nodes that reach no majority of all nodes, themselves included.
func (p *PeerPartition) Minority(nodes int) (list []int) {
	for _, node := range Each(nil, nodes) {
		reached := 0
		for _, other := range Each(nil, nodes) {
			if !p.Apart(node, other) {
				reached++
			}
		}
		if reached <= nodes/2 {
			list = append(list, node)
		}
	}
	return list
}
