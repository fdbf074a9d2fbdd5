package nemesis

import (
	"errors"
	"fmt"
)

// Duplicate has requests come to a node twice: a proxy in front of it sends each once
// more when it has sent it, as some do that retry what they take for lost. The copy
// goes over a connection of the proxy's own, so that it may come late, after whatever
// the client asks next and after the client is gone; and the proxy keeps the node's
// answer to itself, so that the client knows nothing of it. What is on its way when the
// fault ends still comes.
//
// Nothing else happens to the link: to the judges it is up.
type Duplicate struct {
	Links `yaml:",inline"`
	After Distribution `yaml:"after"` // how much later than the request its copy comes to the node
}

// Kind is "duplicate".
func (*Duplicate) Kind() Kind { return "duplicate" }

func (c *Duplicate) String() string {
	return fmt.Sprintf("requests %v come twice, the second time %v later", c.Links, c.After)
}

func (c *Duplicate) validate(s Setting) error {
	if err := c.validateWay(s, Requests); err != nil {
		return err
	}
	return field("after", c.After.Consistent())
}

// lacks implements needy: a client of a store has one connection, and requests with
// numbers, of which the store carries each out once.
func (*Duplicate) lacks(s Setting) error {
	if s.Store != nil {
		return errors.New("a store knows a request that comes twice by its number")
	}
	return nil
}

func (c *Duplicate) targets(s Setting) []string { return c.named("the copies", s) }

func (*Duplicate) ending() ending { return ending{} }

func (*Duplicate) random(d *dice) Action { return &Duplicate{Links: d.links(), After: d.delay()} }
