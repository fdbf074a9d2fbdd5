package nemesis

import "fmt"

// Cancel ends the context of the call that a client has under way: of acquire,
// extend or release. Between calls it does nothing, unless the lock is not one of
// this program: then the context with which the client has called acquire lasts
// until the end of its hold. If it ends before, the client stops working, and
// releases with another context.
type Cancel struct {
	Client int `yaml:"client" want:"1.."`
}

// Kind is "cancel".
func (*Cancel) Kind() Kind { return "cancel" }

func (*Cancel) about() string { return "the context of a client's current call is cancelled" }

func (c *Cancel) String() string {
	return fmt.Sprintf("the call that client %d has under way is cancelled", c.Client)
}

func (c *Cancel) claims(Setting) []string {
	return []string{fmt.Sprintf("the call of client %d", c.Client)}
}

// Effects implements [Action].
func (c *Cancel) Effects(Setting) Effects { return Effects{Does: CancelsCall, Client: c.Client} }

func (*Cancel) ending() ending {
	return ending{forbidden: "a call that has been cancelled is over; its client goes on by itself"}
}

func (*Cancel) random(g *paramGenerator) Action { return &Cancel{Client: g.client()} }
