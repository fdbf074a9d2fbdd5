package nemesis

import (
	"errors"
	"fmt"
)

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

func (p *Pause) String() string {
	text := fmt.Sprintf("client %d is paused", p.Client)
	if p.First == TimersFirst {
		text += " (and then sees timers before replies)"
	}
	return text
}

func (p *Pause) claims(Setting) []string { return []string{program(p.Client)} }

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

// program names what a client runs as a target.
func program(client int) string { return fmt.Sprintf("the program of client %d", client) }

// Suspend puts a client's machine to sleep: its program and its monotonic clock
// stop. The clock that counts suspension and the wall clock go on. Without an end
// the machine never wakes.
type Suspend struct {
	Client int `yaml:"client" want:"1.."`
}

// Kind is "suspend".
func (*Suspend) Kind() Kind { return "suspend" }

func (u *Suspend) String() string { return fmt.Sprintf("the machine of client %d sleeps", u.Client) }

func (u *Suspend) claims(Setting) []string { return machineOf(u.Client) }

func (u *Suspend) clocks() Machine { return Machine{Client: u.Client} }

func (*Suspend) ending() ending { return ending{} }

func (*Suspend) random(g *paramGenerator) Action { return &Suspend{Client: g.client()} }

// machineOf names what a fault holds that stops a client's machine.
func machineOf(client int) []string {
	return []string{program(client), rate(Machine{Client: client})}
}

// Snapshot stops a client's machine and, at the end, restores the state in which
// it was stopped: its program and all its clocks, including the one that counts
// suspension, continue from there. The healing says whether time synchronisation
// then corrects the wall clock. Without an end the machine is never restored.
type Snapshot struct {
	Client  int `yaml:"client" want:"1.."`
	Healing `yaml:",inline"`
}

// Kind is "snapshot".
func (*Snapshot) Kind() Kind { return "snapshot" }

func (n *Snapshot) String() string {
	return fmt.Sprintf("the machine of client %d is stopped, to be restored%v", n.Client, n.Healing)
}

func (n *Snapshot) claims(Setting) []string { return machineOf(n.Client) }

func (n *Snapshot) clocks() Machine { return Machine{Client: n.Client} }

func (n *Snapshot) ending() ending { return n.Healing.ending() }

func (*Snapshot) random(g *paramGenerator) Action {
	return &Snapshot{Client: g.client(), Healing: g.healing()}
}

// Clone makes clients' machines clones of one, as if they were started from one snapshot
// of a running machine: from then on they all draw the same random numbers. Clients that
// behave alike have the same tokens and the same delays. Their programs, clocks and
// connections stay their own.
type Clone struct {
	Clients []int `yaml:"clients,flow,omitempty" want:"1.."` // numbers of clients, at least two. None: every client
}

// Kind is "clone".
func (*Clone) Kind() Kind { return "clone" }

func (c *Clone) String() string {
	return fmt.Sprintf("the machines of %s become clones: they draw the same random numbers", listed("client", c.Clients))
}

func (c *Clone) validate(Setting) error {
	if len(c.Clients) == 1 {
		return field("clients", errors.New("one client is no clone of itself"))
	}
	return nil
}

// requires implements settingDependent.
func (*Clone) requires(s Setting) error {
	if s.Clients < 2 {
		return errors.New("there is one client, and nobody whose clone it could be")
	}
	return nil
}

func (c *Clone) claims(s Setting) []string {
	var all []string
	for _, client := range Each(c.Clients, s.Clients) {
		all = append(all, fmt.Sprintf("the random numbers of client %d", client))
	}
	return all
}

func (*Clone) ending() ending {
	return ending{forbidden: "clients that have one state of randomness keep it"}
}

func (*Clone) random(g *paramGenerator) Action {
	c := &Clone{Clients: g.clients()}
	if len(c.Clients) == 1 {
		c.Clients = nil
	}
	return c
}

// Cancel ends the context of the call that a client has under way: of acquire,
// extend or release. Between calls it does nothing.
type Cancel struct {
	Client int `yaml:"client" want:"1.."`
}

// Kind is "cancel".
func (*Cancel) Kind() Kind { return "cancel" }

func (c *Cancel) String() string {
	return fmt.Sprintf("the call that client %d has under way is cancelled", c.Client)
}

func (c *Cancel) claims(Setting) []string {
	return []string{fmt.Sprintf("the call of client %d", c.Client)}
}

func (*Cancel) ending() ending {
	return ending{forbidden: "a call that has been cancelled is over; its client goes on by itself"}
}

func (*Cancel) random(g *paramGenerator) Action { return &Cancel{Client: g.client()} }

// Kill ends a client for good, in the middle of whatever it does.
type Kill struct {
	Client int `yaml:"client" want:"1.."`
}

// Kind is "kill".
func (*Kill) Kind() Kind { return "kill" }

func (k *Kill) String() string { return fmt.Sprintf("client %d dies", k.Client) }

func (k *Kill) claims(Setting) []string {
	return []string{fmt.Sprintf("the life of client %d", k.Client)}
}

func (*Kill) ending() ending { return ending{forbidden: "a client that has died does not come back"} }

func (*Kill) random(g *paramGenerator) Action { return &Kill{Client: g.client()} }
