package nemesis

import "fmt"

// Pause stops a client while clocks, messages and nodes go on.
type Pause struct {
	Client int   `yaml:"client" want:"1.."`
	First  First `yaml:"first,omitempty" want:"replies|timers"`
}

// First is what a client sees first when it continues after a pause: the replies
// that have arrived meanwhile and wait in its sockets, or the timers that have
// expired. Real programs do either. Nothing means replies.
type First string

// The order in which a resumed client processes its messages and timers.
const (
	RepliesFirst First = "replies" // the client sees the waiting replies
	TimersFirst  First = "timers"  // it gives up expired requests and never sees their replies
)

// TimersFirstFeature is the feature of a pause after which timers are seen
// first.
const TimersFirstFeature Feature = "first: timers"

// Kind is "pause".
func (*Pause) Kind() Kind { return "pause" }

func (*Pause) about() string { return "a client is paused, as by a long garbage collection or SIGSTOP" }

func (p *Pause) String() string {
	text := fmt.Sprintf("client %d is paused", p.Client)
	if p.First == TimersFirst {
		text += " (and then sees timers before replies)"
	}
	return text
}

func (p *Pause) claims(Setting) []string { return []string{program(p.Client)} }

// Effects implements [Action].
func (p *Pause) Effects(Setting) Effects { return Effects{Does: StopsClient, Client: p.Client} }

func (*Pause) ending() ending { return ending{} }

func (p *Pause) features() []Feature {
	if p.First == TimersFirst {
		return []Feature{TimersFirstFeature}
	}
	return nil
}

func (*Pause) random(g *paramGenerator) Action {
	p := &Pause{Client: g.client()}
	if g.chance(30) {
		p.First = TimersFirst
	}
	return p
}

// few implements enumerable.
func (*Pause) few(p fewParams) []Fault {
	return p.eachClient(func(client int) []Fault { return []Fault{{Action: &Pause{Client: client}, End: After(p.scale)}} })
}
