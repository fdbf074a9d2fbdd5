package nemesis

import "fmt"

// SplitBrain promotes the asynchronous replica of a node at the start, with the
// changes that have reached it, while the old master still answers: the given
// clients go on reaching the old one, the others the new one, and neither hears of
// the other. At the end the old master is demoted: everybody reaches the new one,
// and what only the old one had is lost. The setting has to give the nodes replicas.
type SplitBrain struct {
	Node    int   `yaml:"node" want:"1.."`
	Clients []int `yaml:"clients,flow,omitempty" want:"1.."` // numbers of clients that still reach the old master. None: every client
}

// Kind is "split-brain".
func (*SplitBrain) Kind() Kind { return "split-brain" }

func (b *SplitBrain) String() string {
	verb := "reaches"
	if len(b.Clients) > 1 {
		verb = "reach"
	}
	return fmt.Sprintf("the replica of node %d becomes a master, and %s still %s the old one", b.Node, who("client", b.Clients), verb)
}

func (b *SplitBrain) validate(s Setting) error {
	if err := oneOf("node", b.Node, s.Nodes); err != nil {
		return field("node", err)
	}
	if err := someOf("client", b.Clients, s.Clients); err != nil {
		return field("clients", err)
	}
	return field("node", b.lacks(s))
}

func (*SplitBrain) lacks(s Setting) error { return (*Failover)(nil).lacks(s) }

// Old reports whether a client reaches the old master.
func (b *SplitBrain) Old(client int) bool {
	return Links{Clients: b.Clients}.Covers(client, b.Node)
}

func (b *SplitBrain) targets(Setting) []string { return []string{server(b.Node)} }

func (*SplitBrain) ending() ending { return ending{} }

func (*SplitBrain) random(d *dice) Action {
	return &SplitBrain{Node: d.node(), Clients: d.some(d.setting.Clients)}
}
