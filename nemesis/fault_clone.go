package nemesis

import (
	"errors"
	"fmt"
)

// Clone makes clients' machines clones of one, as if they were started from one snapshot
// of a running machine: from then on they all draw the same random numbers. Clients that
// behave alike have the same tokens and the same delays. Their programs, clocks and
// connections stay their own.
type Clone struct {
	Clients []int `yaml:"clients,flow,omitempty" want:"1.."` // numbers of clients, at least two. None: every client
}

// Kind is "clone".
func (*Clone) Kind() Kind { return "clone" }

func (*Clone) about() string {
	return "the machines of clients become clones of one machine: from then on they draw the same random numbers"
}

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

// Effects implements [Action].
func (*Clone) Effects(Setting) Effects { return Effects{Does: Clones} }

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
