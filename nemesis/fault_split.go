package nemesis

import (
	"errors"
	"slices"
	"strings"
)

// Split divides clients and nodes into groups and cuts, both ways, every link
// whose two ends share no group. A client or node in two groups is a bridge between
// them; one in no group is cut off from all others. A cut link holds messages back as
// in a [Partition].
type Split struct {
	Groups []Group `yaml:"groups" want:"2.. items"`
}

// Group is some clients and nodes. Unlike a selection of links, an empty list
// means none.
type Group struct {
	Clients []int `yaml:"clients,flow,omitempty" want:"1.."` // numbers of clients. None: no client
	Nodes   []int `yaml:"nodes,flow,omitempty" want:"1.."`   // numbers of nodes. None: no node
}

func (g Group) String() string {
	var parts []string
	if len(g.Clients) > 0 {
		parts = append(parts, listed("client", g.Clients))
	}
	if len(g.Nodes) > 0 {
		parts = append(parts, listed("node", g.Nodes))
	}
	return strings.Join(parts, " with ")
}

// Consistent returns an error for a group of nobody.
func (g Group) Consistent() error {
	if len(g.Clients) == 0 && len(g.Nodes) == 0 {
		return errors.New("a group of nobody")
	}
	return nil
}

// Over implements [Traffic]: the links that are cut, client by client.
func (p *Split) Over(s Setting) ([]Links, Direction) { return p.cuts(s), Both }

// Rule implements [Traffic].
func (*Split) Rule(func() uint64) Rule { return HoldAll() }

func (p *Split) cuts(s Setting) []Links {
	var cuts []Links
	for client := 1; client <= s.Clients; client++ {
		var nodes []int
		for node := 1; node <= s.Nodes; node++ {
			if !p.connects(client, node) {
				nodes = append(nodes, node)
			}
		}
		if len(nodes) > 0 {
			cuts = append(cuts, Links{Clients: []int{client}, Nodes: nodes})
		}
	}
	return cuts
}

func (p *Split) connects(client, node int) bool {
	return slices.ContainsFunc(p.Groups, func(g Group) bool {
		return slices.Contains(g.Clients, client) && slices.Contains(g.Nodes, node)
	})
}

// Kind is "split".
func (*Split) Kind() Kind { return "split" }

func (*Split) about() string {
	return "clients and nodes are split into groups; each reaches only members of its own groups"
}

func (p *Split) String() string {
	parts := make([]string, len(p.Groups))
	for i, g := range p.Groups {
		parts[i] = g.String()
	}
	return "the network splits: " + strings.Join(parts, " | ")
}

func (p *Split) validate(s Setting) error {
	if len(p.cuts(s)) == 0 {
		return field("groups", errors.New("they cut no link"))
	}
	return nil
}

func (p *Split) claims(s Setting) []string {
	var all []string
	for _, cut := range p.cuts(s) {
		all = append(all, cut.named(connectivity, s)...)
	}
	return all
}

// Effects implements [Action].
func (p *Split) Effects(s Setting) Effects {
	e := Effects{Does: CutsLinks}
	for _, cut := range p.cuts(s) {
		e.Away |= cut.nodes(s)
	}
	return e
}

func (p *Split) simpler(s Setting) Action {
	if cuts := p.cuts(s); len(cuts) == 1 {
		return &Partition{Links: cuts[0]}
	}
	return nil
}

// Prune implements [Pruner].
func (p *Split) Prune() bool {
	p.Groups = slices.DeleteFunc(p.Groups, func(g Group) bool { return len(g.Clients)+len(g.Nodes) == 0 })
	return len(p.Groups) > 1
}

func (*Split) ending() ending { return ending{} }

// Two groups: one client and one node are on different sides in any case.
// Often another node is a bridge.
func (*Split) random(g *paramGenerator) Action {
	groups := make([]Group, 2)
	apart := Links{Clients: []int{g.client()}, Nodes: []int{g.node()}}
	for client := 1; client <= g.setting.Clients; client++ {
		side := g.below(2)
		if client == apart.Clients[0] {
			side = 0
		}
		groups[side].Clients = append(groups[side].Clients, client)
	}
	bridge := 0
	if g.chance(40) {
		bridge = g.node()
	}
	for node := 1; node <= g.setting.Nodes; node++ {
		side := g.below(2)
		if node == apart.Nodes[0] {
			side = 1
		} else if node == bridge {
			groups[1-side].Nodes = append(groups[1-side].Nodes, node)
		}
		groups[side].Nodes = append(groups[side].Nodes, node)
	}
	return &Split{Groups: groups}
}
