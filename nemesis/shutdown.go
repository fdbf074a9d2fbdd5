package nemesis

import (
	"fmt"
	"time"
)

// Shutdown ends a node's server as an operator does, at the start, and starts it
// again at the end. With an append-only file nothing is lost; without one
// everything is, for no snapshot is saved.
type Shutdown struct {
	Node int `yaml:"node" want:"1.."`

	// RestartDelay is after how long by the node's own wall clock its machine
	// starts the server again, in place of an end. 0 means that only the end
	// does.
	RestartDelay time.Duration `yaml:"restart_delay,omitempty" want:"0s.."`
}

// Kind is "shutdown".
func (*Shutdown) Kind() Kind { return "shutdown" }

func (s *Shutdown) String() string {
	return fmt.Sprintf("node %d is shut down%v", s.Node, Restart(s.RestartDelay))
}

func (s *Shutdown) validate(in Setting) error { return validateOutage(in, s.Node, s.RestartDelay) }

func (s *Shutdown) targets(Setting) []string { return []string{server(s.Node)} }

func (s *Shutdown) ending() ending { return Restart(s.RestartDelay).ending() }

func (s *Shutdown) features() []Feature { return Restart(s.RestartDelay).features() }

func (*Shutdown) random(d *dice) Action {
	return &Shutdown{Node: d.node(), RestartDelay: d.restartDelay()}
}
