package nemesis

import (
	"errors"
	"fmt"
)

// Clone makes clients' machines clones of one, as machines are that are started from
// one snapshot of a running machine: from then on each of them draws at random, number by
// number, what the others draw. Clients that go on alike have the same tokens and the same
// delays. Their programs, clocks and connections stay their own.
type Clone struct {
	Clients []int `yaml:"clients,flow,omitempty" want:"1.."` // numbers of clients, at least two. None: every client
}

// Kind is "clone".
func (*Clone) Kind() Kind { return "clone" }

func (c *Clone) String() string {
	return fmt.Sprintf("the machines of %s become clones: they draw the same random numbers", who("client", c.Clients))
}

func (c *Clone) validate(s Setting) error {
	if len(c.Clients) == 1 {
		return field("clients", errors.New("one client is no clone of itself"))
	}
	return field("clients", someOf("client", c.Clients, s.Clients))
}

// lacks implements needy.
func (*Clone) lacks(s Setting) error {
	if s.Clients < 2 {
		return errors.New("there is one client, and nobody whose clone it could be")
	}
	return nil
}

func (c *Clone) targets(s Setting) []string {
	var all []string
	for _, client := range Each(c.Clients, s.Clients) {
		all = append(all, fmt.Sprintf("the random numbers of client %d", client))
	}
	return all
}

func (*Clone) ending() ending {
	return ending{none: "clients that have one state of randomness keep it"}
}

func (*Clone) random(d *dice) Action {
	c := &Clone{Clients: d.clients()}
	if len(c.Clients) == 1 {
		c.Clients = nil
	}
	return c
}
