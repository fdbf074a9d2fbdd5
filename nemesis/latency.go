package nemesis

import "fmt"

// Latency adds to the time that each message takes over the links between
// clients and nodes, both ways.
type Latency struct {
	Clients []int        `yaml:"clients,flow,omitempty"` // none: every client
	Nodes   []int        `yaml:"nodes,flow,omitempty"`   // none: every node
	Add     Distribution `yaml:"add"`
}

// Kind is "latency".
func (*Latency) Kind() Kind { return "latency" }

func (l *Latency) String() string {
	return fmt.Sprintf("messages between %s and %s take %v longer", who("client", l.Clients), who("node", l.Nodes), l.Add)
}

func (l *Latency) validate(s Setting) error {
	if err := someOf("client", l.Clients, s.Clients); err != nil {
		return field("clients", err)
	}
	if err := someOf("node", l.Nodes, s.Nodes); err != nil {
		return field("nodes", err)
	}
	return field("add", l.Add.Validate())
}

func (l *Latency) targets(s Setting) []string { return links(l.Clients, l.Nodes, s) }

func (*Latency) ending() ending { return ending{} }
