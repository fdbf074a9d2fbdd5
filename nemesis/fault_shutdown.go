package nemesis

import (
	"fmt"
	"time"
)

// Shutdown ends a node's server as an operator does, at the start, and starts it
// again at the end. With an append-only file nothing is lost; without one
// everything is, for no snapshot is saved.
type Shutdown struct {
	Node int `yaml:"node" want:"1.. or all"`

	// RestartDelay is the time by the node's own wall clock after which its machine
	// restarts the server, in place of an end. 0 means that the end restarts it.
	RestartDelay time.Duration `yaml:"restart_delay,omitempty" want:"0s.."`
}

// Kind is "shutdown".
func (*Shutdown) Kind() Kind { return "shutdown" }

func (*Shutdown) about() string {
	return "a node's server is shut down cleanly and, at the end, starts again"
}

func (s *Shutdown) String() string {
	return fmt.Sprintf("%s is shut down%v", nodeName(s.Node), Restart(s.RestartDelay))
}

func (s *Shutdown) node() *int { return &s.Node }

func (s *Shutdown) claims(Setting) []string { return []string{server(s.Node)} }

// Effects implements [Action]: they are those of a crash.
func (s *Shutdown) Effects(in Setting) Effects {
	return s.simpler(in).Effects(in)
}

func (s *Shutdown) simpler(Setting) Action { return &Crash{Node: s.Node, RestartDelay: s.RestartDelay} }

func (s *Shutdown) ending() ending { return Restart(s.RestartDelay).ending() }

func (s *Shutdown) features() []Feature { return Restart(s.RestartDelay).features() }

func (*Shutdown) random(g *paramGenerator) Action {
	return &Shutdown{Node: g.node(), RestartDelay: g.restartDelay()}
}
