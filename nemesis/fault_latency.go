package nemesis

import "fmt"

// Latency adds to the time that each message takes over the links between
// clients and nodes.
type Latency struct {
	Links `yaml:",inline"`
	Way   Direction    `yaml:"way,omitempty" want:"requests|replies"`
	Add   Distribution `yaml:"add"` // how much longer
}

// Kind is "latency".
func (*Latency) Kind() Kind { return "latency" }

func (*Latency) about() string { return "messages between clients and nodes take longer" }

func (l *Latency) String() string {
	return fmt.Sprintf("%s %v take %v longer", l.Way.messages(), l.Links, l.Add)
}

func (l *Latency) claims(s Setting) []string { return l.named("the latency", s) }

// Over implements [Traffic].
func (l *Latency) Over(Setting) ([]Links, Direction) { return []Links{l.Links}, l.Way }

// Rule implements [Traffic].
func (l *Latency) Rule(draw func() uint64) Rule { return delayBy(l.Add, draw) }

// Effects implements [Action].
func (l *Latency) Effects(s Setting) Effects { return Effects{Does: Delays | Draws, Away: l.nodes(s)} }

func (l *Latency) simpler(Setting) Action { return &Partition{Links: l.Links, Way: l.Way} }

func (*Latency) ending() ending { return ending{} }

func (*Latency) random(g *paramGenerator) Action {
	return &Latency{Links: g.links(), Way: g.direction(), Add: g.delay()}
}
