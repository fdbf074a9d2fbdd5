package nemesis

import "fmt"

// NodePause stops a node's server, as SIGSTOP does. Its clock runs on. Requests wait
// in its socket; the server processes them in order when it continues.
//
// With client_pause the server runs, and CLIENT PAUSE makes it hold the requests back. No key expires or
// is evicted meanwhile: what is due goes at the end. On a real server only writes and scripts wait. A node that leads
// a store goes on to lead.
type NodePause struct {
	Node        int  `yaml:"node" want:"1.. or all"`
	ClientPause bool `yaml:"client_pause,omitempty"`
}

// Kind is "node-pause".
func (*NodePause) Kind() Kind { return "node-pause" }

func (*NodePause) about() string {
	return "a node's server is paused, as by SIGSTOP; requests queue in its socket"
}

func (p *NodePause) String() string {
	if p.ClientPause {
		return fmt.Sprintf("%s pauses its clients", nodeName(p.Node))
	}
	return fmt.Sprintf("%s stands still", nodeName(p.Node))
}

// ClientPauseFeature is the feature of pauses by CLIENT PAUSE.
const ClientPauseFeature Feature = "node-pause: client pause"

func (p *NodePause) features() []Feature {
	if p.ClientPause {
		return []Feature{ClientPauseFeature}
	}
	return nil
}

func (p *NodePause) simpler(Setting) Action {
	if p.ClientPause {
		return &NodePause{Node: p.Node}
	}
	return nil
}

func (p *NodePause) node() *int { return &p.Node }

func (p *NodePause) claims(Setting) []string { return []string{server(p.Node)} }

// Effects implements [Action].
func (p *NodePause) Effects(Setting) Effects { return Effects{Does: StopsNode, Away: just(p.Node)} }

func (*NodePause) ending() ending { return ending{} }

func (*NodePause) random(g *paramGenerator) Action {
	held := g.fromNewer().chance(30) && g.setting.Store == nil // a leader that goes on to lead and answers nobody is Redis' own
	return &NodePause{Node: g.node(), ClientPause: held}
}

// few implements enumerable.
func (*NodePause) few(p fewParams) []Fault {
	return p.eachNode(func(node int) []Fault { return []Fault{{Action: &NodePause{Node: node}, End: After(p.scale)}} })
}
