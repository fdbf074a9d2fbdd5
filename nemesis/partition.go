package nemesis

import "fmt"

// Partition cuts links between clients and nodes. What is sent over a cut link
// is held back, as TCP does, and may arrive after the end.
type Partition struct {
	Clients []int     `yaml:"clients,flow,omitempty"` // none: every client
	Nodes   []int     `yaml:"nodes,flow,omitempty"`   // none: every node
	Cut     Direction `yaml:"cut,omitempty"`
}

// Direction is which way of a link is meant.
type Direction string

// The directions. The zero value means both.
const (
	Both     Direction = ""
	Requests Direction = "requests"
	Replies  Direction = "replies"
)

// Kind is "partition".
func (*Partition) Kind() Kind { return "partition" }

func (p *Partition) String() string {
	what := "are cut off"
	switch p.Cut {
	case Requests:
		what = "cannot be sent requests"
	case Replies:
		what = "cannot reply"
	}
	if len(p.Nodes) == 1 && p.Cut == Both {
		what = "is cut off"
	}
	return fmt.Sprintf("%s %s, from %s", who("node", p.Nodes), what, who("client", p.Clients))
}

func (p *Partition) validate(s Setting) error {
	if err := someOf("client", p.Clients, s.Clients); err != nil {
		return field("clients", err)
	}
	if err := someOf("node", p.Nodes, s.Nodes); err != nil {
		return field("nodes", err)
	}
	if p.Cut != Both && p.Cut != Requests && p.Cut != Replies {
		return field("cut", fmt.Errorf("unknown direction %q: want requests, replies, or nothing for both", p.Cut))
	}
	return nil
}

func (p *Partition) targets(s Setting) []string { return links(p.Clients, p.Nodes, s) }

func (*Partition) ending() ending { return ending{} }
