package nemesis

import (
	"fmt"
	"time"
)

// Crash kills the process of a node's server at the start and starts it again
// at the end. It comes back with what it had written: with any persistence that
// is everything that it acknowledged. Only a real Redis with aof-everysec can
// lose more: while a sync is under way it answers before it writes, for up to
// two seconds, and what waits then dies with it (see stuck_sync of a power-loss).
type Crash struct {
	Node int `yaml:"node" want:"1.."`

	// RestartDelay is after how long by the node's own wall clock its machine
	// starts the server again, in place of an end. 0 means that only the end
	// does.
	RestartDelay time.Duration `yaml:"restart_delay,omitempty" want:"0s.."`
}

// Kind is "crash".
func (*Crash) Kind() Kind { return "crash" }

func (c *Crash) String() string {
	return fmt.Sprintf("node %d crashes%v", c.Node, Restart(c.RestartDelay))
}

func (c *Crash) validate(s Setting) error { return validateOutage(s, c.Node, c.RestartDelay) }

func (c *Crash) targets(Setting) []string { return []string{server(c.Node)} }

func (c *Crash) ending() ending { return Restart(c.RestartDelay).ending() }

func (c *Crash) features() []Feature { return Restart(c.RestartDelay).features() }

func (*Crash) random(d *dice) Action {
	return &Crash{Node: d.node(), RestartDelay: d.restartDelay()}
}

// server names a node's server as a target.
func server(node int) string { return fmt.Sprintf("the server of node %d", node) }
