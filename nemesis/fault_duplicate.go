package nemesis

import (
	"errors"
	"fmt"
)

// Duplicate makes requests arrive at a node twice: a proxy in front of it sends each
// request once more, as proxies do that retry requests they believe lost. The copy
// travels over the proxy's own connection, so it may arrive late: after the client's
// next requests, or after the client is gone. The proxy drops the node's reply, so the
// client does not notice. Copies under way when the fault ends still arrive.
//
// Nothing else happens to the link: the history shows it as up.
type Duplicate struct {
	Links `yaml:",inline"`
	After Distribution `yaml:"after"` // how much later than the request its copy comes to the node
}

// Kind is "duplicate".
func (*Duplicate) Kind() Kind { return "duplicate" }

func (*Duplicate) about() string {
	return "a proxy sends each request to a node twice, the second time perhaps much later"
}

func (c *Duplicate) String() string {
	return fmt.Sprintf("requests %v come twice, the second time %v later", c.Links, c.After)
}

// requires implements settingDependent: a client of a store has one connection, and requests with
// numbers, of which the store carries each out once.
func (*Duplicate) requires(s Setting) error {
	if s.Store != nil {
		return errors.New("a store knows a request that comes twice by its number")
	}
	return nil
}

func (c *Duplicate) claims(s Setting) []string { return c.named("the copies", s) }

// Effects implements [Action].
func (*Duplicate) Effects(Setting) Effects { return Effects{Does: Duplicates | Draws} }

func (*Duplicate) ending() ending { return ending{} }

func (*Duplicate) random(g *paramGenerator) Action {
	return &Duplicate{Links: g.links(), After: g.delay()}
}
