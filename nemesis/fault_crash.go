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
	Node int `yaml:"node" want:"1.. or all"`

	// RestartDelay is the time by the node's own wall clock after which its machine
	// restarts the server, in place of an end. 0 means that the end restarts it.
	RestartDelay time.Duration `yaml:"restart_delay,omitempty" want:"0s.."`
}

// Kind is "crash".
func (*Crash) Kind() Kind { return "crash" }

func (*Crash) about() string {
	return "a node's server dies and, at the end, starts again; persistence decides which keys it keeps"
}

func (c *Crash) String() string {
	return fmt.Sprintf("%s crashes%v", nodeName(c.Node), Restart(c.RestartDelay))
}

func (c *Crash) node() *int { return &c.Node }

func (c *Crash) claims(Setting) []string { return []string{server(c.Node)} }

// Effects implements [Action].
func (c *Crash) Effects(s Setting) Effects {
	return Effects{Does: TakesDown, Away: just(c.Node), Outage: Outage{Node: c.Node, Loses: s.Persistence == Nothing, RestartDelay: c.RestartDelay}}
}

func (c *Crash) ending() ending { return Restart(c.RestartDelay).ending() }

func (c *Crash) features() []Feature { return Restart(c.RestartDelay).features() }

func (*Crash) random(g *paramGenerator) Action {
	return &Crash{Node: g.node(), RestartDelay: g.restartDelay()}
}

// few implements enumerable: back at once, or after the time in which every key expires.
func (*Crash) few(p fewParams) []Fault {
	return p.eachNode(func(node int) []Fault {
		return []Fault{{Action: &Crash{Node: node}, End: After(0)}, {Action: &Crash{Node: node}, End: After(p.scale)}}
	})
}
