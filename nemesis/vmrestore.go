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

func (v *VMRestore) validate(s Setting) error {
	return field("node", oneOf("node", v.Node, s.Nodes))
}

func (v *VMRestore) targets(Setting) []string { return []string{server(v.Node)} }

func (*VMRestore) ending() ending { return ending{} }

// features are those of a fault that changes the clock of a node, if it does.
func (v *VMRestore) features() []Feature {
	if v.Clock == ClockRestored {
		return Machine{Node: v.Node}.features()
	}
	return nil
}

func (*VMRestore) random(d *dice) Action {
	v := &VMRestore{Node: d.node(), Age: max(d.length(), 1)}
	if d.chance(50) {
		v.Clock = ClockRestored
	}
	return v
}
