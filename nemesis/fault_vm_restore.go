package nemesis

import (
	"fmt"
	"time"
)

// VMRestore stops the virtual machine of a node at the start and restores it, at
// the end, from a snapshot of its memory: its server goes on with the keys of then
// and with the same run id, as if nothing had happened. Its connections are reset.
// Before the run a node is empty. Without an end the machine is never restored.
type VMRestore struct {
	Node  int           `yaml:"node" want:"1.. or all"`
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

func (*VMRestore) about() string {
	return "a node's machine is restored from a memory snapshot: it has the keys of the snapshot and keeps its run id"
}

func (v *VMRestore) String() string {
	text := fmt.Sprintf("the machine of %s stops, to be restored from a memory snapshot %v old", nodeName(v.Node), v.Age)
	if v.Clock == ClockRestored {
		text += " with the clock of then"
	}
	return text
}

func (v *VMRestore) node() *int { return &v.Node }

func (v *VMRestore) claims(Setting) []string { return []string{server(v.Node)} }

// Effects implements [Action].
func (v *VMRestore) Effects(Setting) Effects {
	e := Effects{Does: TakesDown | ReturnsOld | KeepsRunID, Away: just(v.Node), Outage: Outage{Node: v.Node, Loses: true}}
	if v.Clock == ClockRestored {
		e.Clock = ClockError{Machine: Machine{Node: v.Node}, Step: -v.Age, Misses: true}
	}
	return e
}

func (v *VMRestore) simpler(Setting) Action { return &OldSnapshot{Node: v.Node, Age: v.Age} }

func (*VMRestore) ending() ending { return ending{} }

// features are those of a fault that changes the clock of a node, if it does.
func (v *VMRestore) features() []Feature {
	if v.Clock == ClockRestored {
		return Machine{Node: v.Node}.features()
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
