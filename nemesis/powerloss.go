package nemesis

import (
	"fmt"
	"time"
)

// PowerLoss takes the power from the machine of a node at the start; at the end
// its server starts again. What was not synced is gone: with aof-everysec that
// is what has changed since the last sync, deletions and extensions included.
type PowerLoss struct {
	Node int `yaml:"node" want:"1.."`

	// RestartDelay is after how long by the node's own wall clock its machine
	// starts the server again, in place of an end. 0 means that only the end
	// does.
	RestartDelay time.Duration `yaml:"restart_delay,omitempty" want:"0s.."`
}

// Kind is "power-loss".
func (*PowerLoss) Kind() Kind { return "power-loss" }

func (p *PowerLoss) String() string {
	return fmt.Sprintf("node %d loses power%v", p.Node, Restart(p.RestartDelay))
}

func (p *PowerLoss) validate(s Setting) error { return validateOutage(s, p.Node, p.RestartDelay) }

func (p *PowerLoss) targets(Setting) []string { return []string{server(p.Node)} }

func (p *PowerLoss) ending() ending { return Restart(p.RestartDelay).ending() }

func (p *PowerLoss) feature() Feature { return Restart(p.RestartDelay).feature() }

func (*PowerLoss) random(d *dice) Action {
	return &PowerLoss{Node: d.node(), RestartDelay: d.restartDelay()}
}
