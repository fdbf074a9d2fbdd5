package nemesis

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Crash kills the process of a node's server at the start and starts it again
// at the end. It comes back with what it had written: with any persistence that
// is everything that it acknowledged. Only a real Redis with aof-everysec can
// lose more: while a sync is under way it answers before it writes, for up to
// two seconds, and what waits then dies with it (see stuck_sync of a power-loss).
type Crash struct {
	Node int `yaml:"node" want:"1.."`

	// RestartDelay is the time by the node's own wall clock after which its machine
	// restarts the server, in place of an end. 0 means that the end restarts it.
	RestartDelay time.Duration `yaml:"restart_delay,omitempty" want:"0s.."`
}

// Kind is "crash".
func (*Crash) Kind() Kind { return "crash" }

func (c *Crash) String() string {
	return fmt.Sprintf("node %d crashes%v", c.Node, Restart(c.RestartDelay))
}

func (c *Crash) claims(Setting) []string { return []string{server(c.Node)} }

func (c *Crash) ending() ending { return Restart(c.RestartDelay).ending() }

func (c *Crash) features() []Feature { return Restart(c.RestartDelay).features() }

func (*Crash) random(g *paramGenerator) Action {
	return &Crash{Node: g.node(), RestartDelay: g.restartDelay()}
}

// server names a node's server as a target.
func server(node int) string { return fmt.Sprintf("the server of node %d", node) }

// Shutdown ends a node's server as an operator does, at the start, and starts it
// again at the end. With an append-only file nothing is lost; without one
// everything is, for no snapshot is saved.
type Shutdown struct {
	Node int `yaml:"node" want:"1.."`

	// RestartDelay is the time by the node's own wall clock after which its machine
	// restarts the server, in place of an end. 0 means that the end restarts it.
	RestartDelay time.Duration `yaml:"restart_delay,omitempty" want:"0s.."`
}

// Kind is "shutdown".
func (*Shutdown) Kind() Kind { return "shutdown" }

func (s *Shutdown) String() string {
	return fmt.Sprintf("node %d is shut down%v", s.Node, Restart(s.RestartDelay))
}

func (s *Shutdown) claims(Setting) []string { return []string{server(s.Node)} }

func (s *Shutdown) ending() ending { return Restart(s.RestartDelay).ending() }

func (s *Shutdown) features() []Feature { return Restart(s.RestartDelay).features() }

func (*Shutdown) random(g *paramGenerator) Action {
	return &Shutdown{Node: g.node(), RestartDelay: g.restartDelay()}
}

// PowerLoss cuts the power of a node's machine at the start; at the end its server
// starts again. Changes that were not synced are lost: with aof-everysec those since
// the last sync, deletions and extensions included.
type PowerLoss struct {
	Node int `yaml:"node" want:"1.."`

	// RestartDelay is the time by the node's own wall clock after which its machine
	// restarts the server, in place of an end. 0 means that the end restarts it.
	RestartDelay time.Duration `yaml:"restart_delay,omitempty" want:"0s.."`

	// StuckSync is how long the node's disk has been stuck when the power goes:
	// no sync has completed since then. It needs aof-everysec. While a sync is in
	// progress Redis puts its writes off for up to two seconds and goes on
	// answering, so the loss grows by this; after that it blocks, as in a
	// node-pause.
	StuckSync time.Duration `yaml:"stuck_sync,omitempty" want:"0s..2s"`

	// TornTail is what the server does with an append-only file whose last record the
	// power loss has cut. Nothing means that no record is cut.
	TornTail TornTail `yaml:"torn_tail,omitempty" want:"load|refuse"`
}

// TornTail is what a server does when it starts with a torn append-only file: its
// aof-load-truncated.
type TornTail string

// The effects of a torn tail.
const (
	TornLoad   TornTail = "load"   // aof-load-truncated yes: it loads all records before
	TornRefuse TornTail = "refuse" // aof-load-truncated no: its machine is back at once, and it does not start for the rest of the run
)

// The features of power losses beyond [RestartDelayFeature].
const (
	StuckSyncFeature  Feature = "stuck_sync"
	TornLoadFeature   Feature = "torn_tail: load"
	TornRefuseFeature Feature = "torn_tail: refuse"
)

// Kind is "power-loss".
func (*PowerLoss) Kind() Kind { return "power-loss" }

func (p *PowerLoss) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "node %d loses power", p.Node)
	if p.StuckSync > 0 {
		fmt.Fprintf(&text, " when its disk has been stuck for %v", p.StuckSync)
	}
	switch p.TornTail {
	case TornLoad:
		text.WriteString(" within a record of its append-only file, which it will truncate")
	case TornRefuse:
		text.WriteString(" within a record of its append-only file, with which it will not start")
	}
	return text.String() + Restart(p.RestartDelay).String()
}

func (p *PowerLoss) validate(s Setting) error {
	switch {
	case p.StuckSync > 0 && s.Persistence != EverySecond:
		return field("stuck_sync", fmt.Errorf("only %s answers before a sync", EverySecond))
	case p.TornTail != "" && s.Persistence == Nothing:
		return field("torn_tail", errors.New("no node has an append-only file"))
	case p.TornTail == TornRefuse && p.RestartDelay > 0:
		return field("restart_delay", errors.New("a server that refuses its file does not start"))
	}
	return nil
}

func (p *PowerLoss) claims(Setting) []string { return []string{server(p.Node)} }

func (p *PowerLoss) ending() ending {
	if p.TornTail == TornRefuse {
		return ending{automatic: "a server that refuses its append-only file does not come back"}
	}
	return Restart(p.RestartDelay).ending()
}

func (p *PowerLoss) features() []Feature {
	all := Restart(p.RestartDelay).features()
	if p.StuckSync > 0 {
		all = append(all, StuckSyncFeature)
	}
	switch p.TornTail {
	case TornLoad:
		all = append(all, TornLoadFeature)
	case TornRefuse:
		all = append(all, TornRefuseFeature)
	}
	return all
}

func (*PowerLoss) random(g *paramGenerator) Action {
	p := &PowerLoss{Node: g.node(), RestartDelay: g.restartDelay()}
	if g.setting.Persistence == EverySecond && g.chance(30) {
		p.StuckSync = round(g.upTo(2 * time.Second))
	}
	if g.setting.Persistence != Nothing && g.chance(30) {
		p.TornTail = TornLoad
		if p.RestartDelay == 0 && g.chance(30) {
			p.TornTail = TornRefuse
		}
	}
	return p
}

// NodePause stops a node's server, as SIGSTOP does. Its clock runs on. Requests wait
// in its socket; the server processes them in order when it continues.
type NodePause struct {
	Node int `yaml:"node" want:"1.."`
}

// Kind is "node-pause".
func (*NodePause) Kind() Kind { return "node-pause" }

func (p *NodePause) String() string { return fmt.Sprintf("node %d stands still", p.Node) }

func (p *NodePause) claims(Setting) []string { return []string{server(p.Node)} }

func (*NodePause) ending() ending { return ending{} }

func (*NodePause) random(g *paramGenerator) Action { return &NodePause{Node: g.node()} }

// Restart says who restarts a server that went down. At 0 the end of the fault does:
// at once, later, or never. Otherwise the node's machine does, when the node's own
// wall clock has advanced by this much; a jump of that clock shortens or lengthens
// the time. Such a fault has no end in the plan, and counts as lasting until the end
// of the run.
type Restart time.Duration

// String completes "node 3 crashes".
func (r Restart) String() string {
	if r == 0 {
		return ""
	}
	return fmt.Sprintf(" and starts again after %v of its own clock", time.Duration(r))
}

func (r Restart) ending() ending {
	if r == 0 {
		return ending{}
	}
	return ending{automatic: "restart_delay says when the server starts again, and excludes an end"}
}

// BringsBack reports whether the fault takes a node down that comes back: its end, or the node's
// machine, starts a server again.
func (f *Fault) BringsBack() bool {
	switch a := f.Action.(type) {
	case *PowerLoss:
		return a.TornTail != TornRefuse && !f.ForGood()
	case *Crash, *Shutdown, *Failover, *OldSnapshot, *VMRestore:
		return !f.ForGood()
	}
	return false
}

// RestartDelayFeature is the feature of a fault after which a node's machine
// starts the server again by its own clock.
const RestartDelayFeature Feature = "restart_delay"

func (r Restart) features() []Feature {
	if r == 0 {
		return nil
	}
	return []Feature{RestartDelayFeature}
}
