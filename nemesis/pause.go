package nemesis

import "fmt"

// Pause makes a client stand still while clocks, messages and nodes go on.
type Pause struct {
	Client int `yaml:"client"`
}

// Kind is "pause".
func (*Pause) Kind() Kind { return "pause" }

func (p *Pause) String() string { return fmt.Sprintf("client %d is paused", p.Client) }

func (p *Pause) validate(s Setting) error {
	return field("client", oneOf("client", p.Client, s.Clients))
}

func (p *Pause) targets(Setting) []string { return []string{fmt.Sprintf("client %d", p.Client)} }

func (*Pause) ending() ending { return ending{} }
