package nemesis

import (
	"errors"
	"fmt"
	"time"
)

// Failover kills the master of a node at the start; at the end the node's
// asynchronous replica takes its place, with the changes that had reached it
// when the master died. The setting has to give the nodes replicas.
type Failover struct {
	Node int `yaml:"node" want:"1.."`
}

// Kind is "failover".
func (*Failover) Kind() Kind { return "failover" }

func (f *Failover) String() string {
	return fmt.Sprintf("node %d fails over to its replica", f.Node)
}

func (f *Failover) validate(s Setting) error { return field("node", f.requires(s)) }

func (*Failover) requires(s Setting) error {
	if s.Replication == nil {
		return errors.New("no node has a replica: the setting has no replication")
	}
	return nil
}

func (f *Failover) claims(Setting) []string { return []string{server(f.Node)} }

func (*Failover) ending() ending { return ending{} }

func (*Failover) random(g *paramGenerator) Action { return &Failover{Node: g.node()} }

// SplitBrain promotes the asynchronous replica of a node at the start, with the
// changes that have reached it, while the old master still answers: the given
// clients reach the old master, the others the new one, and the masters do not
// know of each other. At the end the old master is demoted: all clients reach the new
// one, and changes that only the old one has are lost. The setting has to give the
// nodes replicas.
type SplitBrain struct {
	Node    int   `yaml:"node" want:"1.."`
	Clients []int `yaml:"clients,flow,omitempty" want:"1.."` // numbers of clients that still reach the old master. None: every client
}

// Kind is "split-brain".
func (*SplitBrain) Kind() Kind { return "split-brain" }

func (b *SplitBrain) String() string {
	verb := "reaches"
	if len(b.Clients) > 1 {
		verb = "reach"
	}
	return fmt.Sprintf("the replica of node %d becomes a master, and %s still %s the old one", b.Node, listed("client", b.Clients), verb)
}

func (b *SplitBrain) validate(s Setting) error { return field("node", b.requires(s)) }

func (*SplitBrain) requires(s Setting) error { return (*Failover)(nil).requires(s) }

// Old reports whether a client reaches the old master.
func (b *SplitBrain) Old(client int) bool {
	return Links{Clients: b.Clients}.Covers(client, b.Node)
}

func (b *SplitBrain) claims(Setting) []string { return []string{server(b.Node)} }

func (*SplitBrain) ending() ending { return ending{} }

func (*SplitBrain) random(g *paramGenerator) Action {
	return &SplitBrain{Node: g.node(), Clients: g.some(g.setting.Clients)}
}

// OldSnapshot kills a node's server at the start; at the end it starts again
// from an old snapshot, whatever its persistence. Before the run a node is
// empty.
type OldSnapshot struct {
	Node int           `yaml:"node" want:"1.."`
	Age  time.Duration `yaml:"age" want:">0s.."` // of the snapshot, when the fault starts
}

// Kind is "old-snapshot".
func (*OldSnapshot) Kind() Kind { return "old-snapshot" }

func (o *OldSnapshot) String() string {
	return fmt.Sprintf("node %d dies, to restart from a snapshot %v old", o.Node, o.Age)
}

func (o *OldSnapshot) claims(Setting) []string { return []string{server(o.Node)} }

func (*OldSnapshot) ending() ending { return ending{} }

func (*OldSnapshot) random(g *paramGenerator) Action {
	return &OldSnapshot{Node: g.node(), Age: max(g.length(), 1)}
}

// VMRestore stops the virtual machine of a node at the start and restores it, at
// the end, from a snapshot of its memory: its server goes on with the keys of then
// and with the same run id, as if nothing had happened. Its connections are reset.
// Before the run a node is empty. Without an end the machine is never restored.
type VMRestore struct {
	Node  int           `yaml:"node" want:"1.."`
	Age   time.Duration `yaml:"age" want:">0s.."` // of the snapshot, when the fault starts
	Clock GuestClock    `yaml:"clock,omitempty" want:"synced|restored"`
}

// GuestClock is what the wall clock of a restored machine shows. Nothing means synced.
type GuestClock string

// The clocks.
const (
	ClockSynced   GuestClock = "synced"   // the right time: it is set before the server goes on
	ClockRestored GuestClock = "restored" // the time of the snapshot, from which it goes on: it stays behind
)

// Kind is "vm-restore".
func (*VMRestore) Kind() Kind { return "vm-restore" }

func (v *VMRestore) String() string {
	text := fmt.Sprintf("the machine of node %d stops, to be restored from a memory snapshot %v old", v.Node, v.Age)
	if v.Clock == ClockRestored {
		text += " with the clock of then"
	}
	return text
}

func (v *VMRestore) claims(Setting) []string { return []string{server(v.Node)} }

func (*VMRestore) ending() ending { return ending{} }

func (v *VMRestore) clocks() Machine {
	if v.Clock == ClockRestored {
		return Machine{Node: v.Node}
	}
	return Machine{}
}

// features are those of a fault that changes the clock of a node, if it does.
func (v *VMRestore) features() []Feature {
	if m := v.clocks(); m != (Machine{}) {
		return m.features()
	}
	return nil
}

func (*VMRestore) random(g *paramGenerator) Action {
	v := &VMRestore{Node: g.node(), Age: max(g.length(), 1)}
	if g.chance(50) {
		v.Clock = ClockRestored
	}
	return v
}
