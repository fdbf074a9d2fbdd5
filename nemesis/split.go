package nemesis

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Split divides clients and nodes into groups and cuts, both ways, every link
// whose two ends share no group. Whoever is in two groups is a bridge between
// them; whoever is in none is cut off from everyone. What a cut link does to
// messages is described with [Partition].
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
		parts = append(parts, who("client", g.Clients))
	}
	if len(g.Nodes) > 0 {
		parts = append(parts, who("node", g.Nodes))
	}
	return strings.Join(parts, " with ")
}

func (g Group) validate(s Setting) error {
	if len(g.Clients) == 0 && len(g.Nodes) == 0 {
		return errors.New("a group of nobody")
	}
	if err := someOf("client", g.Clients, s.Clients); err != nil {
		return field("clients", err)
	}
	return field("nodes", someOf("node", g.Nodes, s.Nodes))
}

// Over implements [Traffic]: the links that are cut, client by client.
func (p *Split) Over(s Setting) ([]Links, Direction) { return p.cuts(s), Both }

// Rule implements [Traffic].
func (*Split) Rule(func() uint64) Rule { return Silence() }

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

func (p *Split) String() string {
	parts := make([]string, len(p.Groups))
	for i, g := range p.Groups {
		parts[i] = g.String()
	}
	return "the network splits: " + strings.Join(parts, " | ")
}

func (p *Split) validate(s Setting) error {
	for i, g := range p.Groups {
		if err := g.validate(s); err != nil {
			return field("groups", field(fmt.Sprintf("[%d]", i), err))
		}
	}
	if len(p.cuts(s)) == 0 {
		return field("groups", errors.New("they cut no link"))
	}
	return nil
}

func (p *Split) targets(s Setting) []string {
	var all []string
	for _, cut := range p.cuts(s) {
		all = append(all, cut.named(connectivity, s)...)
	}
	return all
}

func (*Split) ending() ending { return ending{} }

// Two groups: one client and one node are on different sides in any case.
// Often another node is a bridge.
func (*Split) random(d *dice) Action {
	groups := make([]Group, 2)
	apart := Links{Clients: []int{d.client()}, Nodes: []int{d.node()}}
	for client := 1; client <= d.setting.Clients; client++ {
		side := d.below(2)
		if client == apart.Clients[0] {
			side = 0
		}
		groups[side].Clients = append(groups[side].Clients, client)
	}
	bridge := 0
	if d.chance(40) {
		bridge = d.node()
	}
	for node := 1; node <= d.setting.Nodes; node++ {
		side := d.below(2)
		if node == apart.Nodes[0] {
			side = 1
		} else if node == bridge {
			groups[1-side].Nodes = append(groups[1-side].Nodes, node)
		}
		groups[side].Nodes = append(groups[side].Nodes, node)
	}
	return &Split{Groups: groups}
}
