package nemesis

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Partition cuts links between clients and nodes. Messages over a cut link are held
// back, as TCP does, and may arrive after the end.
type Partition struct {
	Links `yaml:",inline"`
	Way   Direction `yaml:"way,omitempty" want:"requests|replies"`
}

// Kind is "partition".
func (*Partition) Kind() Kind { return "partition" }

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

func (*Partition) ending() ending { return ending{} }

func (*Partition) random(g *paramGenerator) Action {
	return &Partition{Links: g.links(), Way: g.direction()}
}

// connectivity of a link is a target: whether it is cut.
const connectivity = "the connectivity"

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

// Reset resets connections: at the start those with a message under way in its
// direction, and until the end every connection that carries a message in that
// direction.
//
// A request is reset before the node has seen it and never takes effect. A reply
// is reset after the node has applied the request. In both directions, connections
// are reset at the request, and at the start also those with replies under way. The
// client sees the reset when the reply would have arrived, and cannot tell the two
// cases apart.
type Reset struct {
	Links `yaml:",inline"`
	Way   Direction `yaml:"way,omitempty" want:"requests|replies"`

	// Once resets on each link only the connection of the first message in each of the
	// directions that comes after the start. So a client that tries again gets through, however
	// soon it does. The fault is over on a link when it has struck there, and as a whole when it
	// has struck all of its links, if its end does not come before.
	Once bool `yaml:"once,omitempty"`
}

// Kind is "reset".
func (*Reset) Kind() Kind { return "reset" }

func (r *Reset) String() string {
	when := "when a request arrives"
	if r.Way == Replies {
		when = "when a request has been applied"
	}
	if r.Once {
		when = "once " + when
	}
	return "connections " + r.Links.String() + " are reset " + when
}

func (r *Reset) claims(s Setting) []string { return r.named("the resets", s) }

func (*Reset) ending() ending { return ending{} }

func (*Reset) random(g *paramGenerator) Action { return &Reset{Links: g.links(), Way: g.direction()} }
