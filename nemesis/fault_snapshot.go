package nemesis

import "fmt"

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

func (*Snapshot) about() string {
	return "a client's machine is suspended to a snapshot and restored later: its program and all its clocks stop"
}

func (n *Snapshot) String() string {
	return fmt.Sprintf("the machine of client %d is stopped, to be restored%v", n.Client, n.Healing)
}

func (n *Snapshot) claims(Setting) []string { return machineOf(n.Client) }

// Effects implements [Action].
func (n *Snapshot) Effects(Setting) Effects {
	return Effects{Does: StopsClient | StopsMachine, Client: n.Client, Clock: n.Clock()}
}

// Clock implements [ClockFault].
func (n *Snapshot) Clock() ClockError {
	return ClockError{Machine: Machine{Client: n.Client}, Stops: AllClocks, Healing: n.Healing, Suspends: true}
}

func (n *Snapshot) simpler(Setting) Action { return &Pause{Client: n.Client} }

func (n *Snapshot) ending() ending { return n.Healing.ending() }

func (*Snapshot) random(g *paramGenerator) Action {
	return &Snapshot{Client: g.client(), Healing: g.healing()}
}
