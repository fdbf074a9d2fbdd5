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
	// Effects returns what the fault does in a setting. What it does always, whatever its fields
	// are, it also does with empty fields and in an empty setting.
	Effects(s Setting) Effects
	// about says what the kind does, for lists and pages.
	about() string
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

// kinds lists every kind of fault. Replay strings depend on the order: a new kind
// goes to the end.
var kinds = []struct{ zero Action }{
	{&Crash{}},
	{&PowerLoss{}},
	{&Shutdown{}},
	{&Failover{}},
	{&OldSnapshot{}},
	{&NodePause{}},
	{&NodeError{}},
	{&Evict{}},
	{&ScriptFlush{}},
	{&Partition{}},
	{&Latency{}},
	{&Loss{}},
	{&Reset{}},
	{&Bandwidth{}},
	{&Split{}},
	{&GuardLatency{}},
	{&Pause{}},
	{&Kill{}},
	{&Cancel{}},
	{&ClockJump{}},
	{&ClockRate{}},
	{&ClockSlew{}},
	{&ClockStrobe{}},
	{&ClockFreeze{}},
	{&Suspend{}},
	{&Snapshot{}},
	{&Duplicate{}},
	{&Clone{}},
	{&VMRestore{}},
	{&SplitBrain{}},
	{&PeerPartition{}},
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
		what[k.zero.Kind()] = k.zero.about()
	}
	return names, what
}
