package nemesis

import "fmt"

// Suspend puts a client's machine to sleep: its program stands still, as in a
// [Pause], and so does its monotonic clock. The clock that counts suspension
// and the wall clock go on. Without an end it never wakes.
type Suspend struct {
	Client int `yaml:"client" want:"1.."`
}

// Kind is "suspend".
func (*Suspend) Kind() Kind { return "suspend" }

func (u *Suspend) String() string { return fmt.Sprintf("the machine of client %d sleeps", u.Client) }

func (u *Suspend) validate(s Setting) error {
	return field("client", oneOf("client", u.Client, s.Clients))
}

func (u *Suspend) targets(Setting) []string { return machineOf(u.Client) }

func (*Suspend) ending() ending { return ending{} }

func (*Suspend) random(d *dice) Action { return &Suspend{Client: d.client()} }

// machineOf names what a fault holds that stops a client's machine.
func machineOf(client int) []string {
	return []string{program(client), rate(Machine{Client: client})}
}
