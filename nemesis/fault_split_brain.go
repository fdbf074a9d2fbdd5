package nemesis

import "fmt"

// SplitBrain promotes the asynchronous replica of a node at the start, with the
// changes that have reached it, while the old master still answers: the given
// clients reach the old master, the others the new one, and the masters do not
// know of each other. At the end the old master is demoted: all clients reach the new
// one, and changes that only the old one has are lost. The setting has to give the
// nodes replicas.
type SplitBrain struct {
	Node    int   `yaml:"node" want:"1.. or all"`
	Clients []int `yaml:"clients,flow,omitempty" want:"1.."` // numbers of clients that still reach the old master. None: every client
}

// Kind is "split-brain".
func (*SplitBrain) Kind() Kind { return "split-brain" }

func (*SplitBrain) about() string {
	return "a node's replica is promoted while its master still answers: some clients reach the old master, the others the new one"
}

func (b *SplitBrain) String() string {
	verb := "reaches"
	if len(b.Clients) > 1 {
		verb = "reach"
	}
	return fmt.Sprintf("the replica of %s becomes a master, and %s still %s the old one", nodeName(b.Node), listed("client", b.Clients), verb)
}

func (b *SplitBrain) validate(s Setting) error { return field("node", b.requires(s)) }

func (*SplitBrain) requires(s Setting) error { return new(Failover).requires(s) }

// Old reports whether a client reaches the old master.
func (b *SplitBrain) Old(client int) bool {
	return Links{Clients: b.Clients}.Covers(client, b.Node)
}

func (b *SplitBrain) node() *int { return &b.Node }

func (b *SplitBrain) claims(Setting) []string { return []string{server(b.Node)} }

// Effects implements [Action].
func (b *SplitBrain) Effects(Setting) Effects {
	return Effects{Does: SplitsMaster | PromotesReplica, Away: just(b.Node)}
}

func (b *SplitBrain) simpler(Setting) Action { return &Failover{Node: b.Node} }

func (*SplitBrain) ending() ending { return ending{} }

func (*SplitBrain) random(g *paramGenerator) Action {
	return &SplitBrain{Node: g.node(), Clients: g.some(g.setting.Clients)}
}
