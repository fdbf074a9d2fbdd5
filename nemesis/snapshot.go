package nemesis

import "fmt"

// Snapshot stops a client's machine and restores it, at the end, to the state
// in which it was stopped: its program and all its clocks, that which counts
// suspension included, go on from where they stood. The healing says whether
// time synchronisation then mends the wall clock. Without an end the machine is
// never restored.
type Snapshot struct {
	Client  int `yaml:"client" want:"1.."`
	Healing `yaml:",inline"`
}

// Kind is "snapshot".
func (*Snapshot) Kind() Kind { return "snapshot" }

func (n *Snapshot) String() string {
	return fmt.Sprintf("the machine of client %d is stopped, to be restored%v", n.Client, n.Healing)
}

func (n *Snapshot) validate(s Setting) error {
	if err := n.Healing.validate(); err != nil {
		return err
	}
	return field("client", oneOf("client", n.Client, s.Clients))
}

func (n *Snapshot) targets(Setting) []string { return machineOf(n.Client) }

func (n *Snapshot) ending() ending { return n.Healing.ending() }

func (*Snapshot) random(d *dice) Action {
	return &Snapshot{Client: d.client(), Healing: d.healing()}
}
