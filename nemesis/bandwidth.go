package nemesis

import "fmt"

// Bandwidth narrows links: a message takes as long as its bytes need, beside
// the latency, and messages between one client and one node wait for one
// another. The two directions do not.
type Bandwidth struct {
	Links          `yaml:",inline"`
	Way            Direction `yaml:"way,omitempty"`
	BytesPerSecond int64     `yaml:"bytes_per_second" want:"1.."` // of each link, each way; what cuts a link is a partition
}

// Kind is "bandwidth".
func (*Bandwidth) Kind() Kind { return "bandwidth" }

func (b *Bandwidth) String() string {
	return fmt.Sprintf("%s %v get %d bytes a second", b.Way.messages(), b.Links, b.BytesPerSecond)
}

func (b *Bandwidth) validate(s Setting) error {
	return b.validateWay(s, b.Way)
}

func (b *Bandwidth) targets(s Setting) []string { return b.named("the bandwidth", s) }

func (*Bandwidth) ending() ending { return ending{} }

// A command and its reply have about a hundred bytes, so that a message takes
// from a millisecond to half a second.
func (*Bandwidth) random(d *dice) Action {
	return &Bandwidth{Links: d.links(), Way: d.direction(), BytesPerSecond: 256 << d.below(10)}
}
