package nemesis

import "fmt"

// Partition cuts links between clients and nodes. What is sent over a cut link
// is held back, as TCP does, and may arrive after the end.
type Partition struct {
	Links `yaml:",inline"`
	Way   Direction `yaml:"way,omitempty"`
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
	return fmt.Sprintf("%s %s, from %s", who("node", p.Nodes), what, who("client", p.Clients))
}

func (p *Partition) validate(s Setting) error {
	return p.validateWay(s, p.Way)
}

func (p *Partition) targets(s Setting) []string { return p.named(connectivity, s) }

// Over implements [Traffic].
func (p *Partition) Over(Setting) ([]Links, Direction) { return []Links{p.Links}, p.Way }

// Rule implements [Traffic].
func (*Partition) Rule(func() uint64) Rule { return Silence() }

func (*Partition) ending() ending { return ending{} }

func (*Partition) random(d *dice) Action { return &Partition{Links: d.links(), Way: d.direction()} }

// connectivity of a link is a target: whether it is cut.
const connectivity = "the connectivity"
