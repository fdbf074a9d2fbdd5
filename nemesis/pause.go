package nemesis

import "fmt"

// Pause makes a client stand still while clocks, messages and nodes go on.
type Pause struct {
	Client int   `yaml:"client" want:"1.."`
	First  First `yaml:"first,omitempty"`
}

// First is what a client sees first when it goes on after a pause: the replies
// that have come meanwhile and wait in its sockets, or that time is up for what
// it waits for. Real programs do either. Nothing means replies.
type First string

// What can be seen first.
const (
	RepliesFirst First = "replies" // what has come meanwhile is seen
	TimersFirst  First = "timers"  // a reply to what was given up thereby is not seen at all
)

// TimersFirstFeature is the feature of a pause after which timers are seen
// first.
const TimersFirstFeature Feature = "first: timers"

// Kind is "pause".
func (*Pause) Kind() Kind { return "pause" }

func (p *Pause) String() string {
	text := fmt.Sprintf("client %d is paused", p.Client)
	if p.First == TimersFirst {
		text += " (and then sees timers before replies)"
	}
	return text
}

func (p *Pause) validate(s Setting) error {
	switch p.First {
	case "", RepliesFirst, TimersFirst:
		return field("client", oneOf("client", p.Client, s.Clients))
	}
	return field("first", fmt.Errorf("%q: want %s or %s", p.First, RepliesFirst, TimersFirst))
}

func (p *Pause) targets(Setting) []string { return []string{program(p.Client)} }

func (*Pause) ending() ending { return ending{} }

func (p *Pause) features() []Feature {
	if p.First == TimersFirst {
		return []Feature{TimersFirstFeature}
	}
	return nil
}

func (*Pause) random(d *dice) Action {
	p := &Pause{Client: d.client()}
	if d.chance(30) {
		p.First = TimersFirst
	}
	return p
}

// program names what a client runs as a target.
func program(client int) string { return fmt.Sprintf("the program of client %d", client) }
