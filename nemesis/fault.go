package nemesis

import (
	"strings"
	"time"
)

// Fault is one entry of a plan: one kind of fault with its fields, from its start
// to its end.
type Fault struct {
	Action Action   // in a file a field with the name of its kind
	Start  Trigger  `yaml:"start"`         // when it begins. Nothing means with the run
	End    *Trigger `yaml:"end,omitempty"` // when it is over. Nothing means never, or at once if it does not last
}

// Action is what a fault does, without its when: a pointer to one of the
// types of this package that [Kinds] lists.
type Action interface {
	// Kind names the action's kind.
	Kind() Kind
	// String describes the action, as in "node 2 crashes".
	String() string
	// claims names what the action affects, as in "the server of node 3". Two
	// faults with the same claim must not overlap.
	claims(s Setting) []string
	// ending says whether the fault can end, and how.
	ending() ending
	// random returns an action of the same kind with drawn fields, for a setting
	// that meets its requirement (see [unmetRequirement]).
	random(g *paramGenerator) Action
}

// settingValidator is implemented by actions that are valid in some settings only, beyond the numbers
// that they name. validate returns a [FieldError].
type settingValidator interface{ validate(s Setting) error }

// settingDependent is implemented by actions that are impossible in some settings,
// whatever their fields.
type settingDependent interface {
	// requires returns an error that says what the setting lacks, if anything.
	requires(s Setting) error
}

// clockChanger is implemented by actions that can make clocks wrong, or stop them.
type clockChanger interface {
	// clocks returns the machine whose clocks they are; the zero value: none.
	clocks() Machine
}

// ClockMachine returns the machine whose clocks an action makes wrong or stops, or the zero value.
func ClockMachine(a Action) Machine {
	if c, changes := a.(clockChanger); changes {
		return c.clocks()
	}
	return Machine{}
}

// unmetRequirement returns an error if an action is impossible in a setting.
func unmetRequirement(a Action, s Setting) error {
	if n, ok := a.(settingDependent); ok {
		return n.requires(s)
	}
	return nil
}

// ending says how a kind of fault can end.
type ending struct {
	required  bool          // the fault must name its end
	heals     bool          // it must because only a fault that ends can heal
	forbidden string        // why the fault cannot have an end
	automatic string        // why the plan cannot name the end: the world ends the fault itself
	after     time.Duration // it ends by itself after this time; 0: at once, if it cannot have an end
}

// Kind is a kind of fault.
type Kind string

// one is the kind with its article, as in "an evict".
func (k Kind) one() string {
	if strings.ContainsRune("aeio", rune(k[0])) {
		return "an " + string(k)
	}
	return "a " + string(k)
}

// kinds lists every kind of fault with its effect. Replay strings depend on the
// order: a new kind goes to the end.
var kinds = []struct {
	zero Action
	what string
}{
	{&Crash{}, "a node's server dies and, at the end, starts again; persistence decides which keys it keeps"},
	{&PowerLoss{}, "a node's machine loses power and all unsynced data; at the end it starts again (members of a simulated store keep what they have agreed on)"},
	{&Shutdown{}, "a node's server is shut down cleanly and, at the end, starts again"},
	{&Failover{}, "a node's master dies and, at the end, its asynchronous replica takes over"},
	{&OldSnapshot{}, "a node's server dies and, at the end, starts again from an old snapshot"},
	{&NodePause{}, "a node's server is paused, as by SIGSTOP; requests queue in its socket"},
	{&NodeError{}, "nodes answer with an error: LOADING, OOM or READONLY"},
	{&Evict{}, "a node evicts keys: one, those with a TTL, or all"},
	{&ScriptFlush{}, "a node's script cache is emptied, as by SCRIPT FLUSH"},
	{&Partition{}, "messages between clients and nodes are held back, and delivered when the fault ends"},
	{&Latency{}, "messages between clients and nodes take longer"},
	{&Loss{}, "messages between clients and nodes are lost and retransmitted: clients see a delay or a reset"},
	{&Reset{}, "connections between clients and nodes are reset, before the request takes effect or after"},
	{&Bandwidth{}, "messages between a client and a node share a limited bandwidth"},
	{&Split{}, "clients and nodes are split into groups; each reaches only members of its own groups"},
	{&GuardLatency{}, "accesses arrive at the guarded resource later"},
	{&Pause{}, "a client is paused, as by a long garbage collection or SIGSTOP"},
	{&Kill{}, "a client dies"},
	{&Cancel{}, "the context of a client's current call is cancelled"},
	{&ClockJump{}, "a node's or a client's wall clock steps forward or back"},
	{&ClockRate{}, "a node's or a client's clocks run fast or slow"},
	{&ClockSlew{}, "a node's or a client's clocks run fast or slow until they have gained or lost a given time"},
	{&ClockStrobe{}, "a node's or a client's wall clock repeatedly jumps forth and back"},
	{&ClockFreeze{}, "a node's or a client's wall clock stops"},
	{&Suspend{}, "a client's machine is suspended: its program and its monotonic clock stop, its boot-time clock goes on"},
	{&Snapshot{}, "a client's machine is suspended to a snapshot and restored later: its program and all its clocks stop"},
	{&Duplicate{}, "a proxy sends each request to a node twice, the second time perhaps much later"},
	{&Clone{}, "the machines of clients become clones of one machine: from then on they draw the same random numbers"},
	{&VMRestore{}, "a node's machine is restored from a memory snapshot: it has the keys of the snapshot and keeps its run id"},
	{&SplitBrain{}, "a node's replica is promoted while its master still answers: some clients reach the old master, the others the new one"},
	{&PeerPartition{}, "nodes of a store cannot reach the other nodes; clients still reach all of them"},
}

// Actions returns an empty action of every kind.
func Actions() []Action {
	all := make([]Action, len(kinds))
	for i, k := range kinds {
		all[i] = k.zero
	}
	return all
}

// Kinds returns every kind of fault with a line on what it does.
func Kinds() (names []Kind, what map[Kind]string) {
	what = make(map[Kind]string, len(kinds))
	for _, k := range kinds {
		names = append(names, k.zero.Kind())
		what[k.zero.Kind()] = k.what
	}
	return names, what
}
