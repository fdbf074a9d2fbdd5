package nemesis

import "fmt"

// Bandwidth narrows links: a message takes as long as its bytes need, beside
// the latency, and messages between one client and one node wait for one
// another. The two directions do not.
type Bandwidth struct {
	Links          `yaml:",inline"`
	Way            Direction `yaml:"way,omitempty" want:"requests|replies"`
	BytesPerSecond int64     `yaml:"bytes_per_second" want:"1.."` // of each link, each way; what cuts a link is a partition
}

// Kind is "bandwidth".
func (*Bandwidth) Kind() Kind { return "bandwidth" }

func (*Bandwidth) about() string {
	return "messages between a client and a node share a limited bandwidth"
}

func (b *Bandwidth) String() string {
	return fmt.Sprintf("%s %v get %d bytes a second", b.Way.messages(), b.Links, b.BytesPerSecond)
}

func (b *Bandwidth) claims(s Setting) []string { return b.named("the bandwidth", s) }

// Effects implements [Action].
func (b *Bandwidth) Effects(s Setting) Effects { return Effects{Does: Narrows, Away: b.nodes(s)} }

func (b *Bandwidth) simpler(Setting) Action { return &Partition{Links: b.Links, Way: b.Way} }

func (*Bandwidth) ending() ending { return ending{} }

// A command and its reply have about a hundred bytes, so that a message takes
// from a millisecond to half a second.
func (*Bandwidth) random(g *paramGenerator) Action {
	return &Bandwidth{Links: g.links(), Way: g.direction(), BytesPerSecond: 256 << g.below(10)}
}
