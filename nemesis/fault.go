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

// Ends returns when the fault ends, by the plan or by itself; nil means never.
func (f *Fault) Ends() *Trigger {
	if lasts := f.Action.ending().after; lasts > 0 {
		return After(lasts)
	}
	return f.End
}

// ForGood reports whether the fault never ends.
func (f *Fault) ForGood() bool { return f.Ends() == nil && f.Action.ending().automatic == "" }

// Momentary reports whether the fault is over as soon as it has begun.
func (f *Fault) Momentary() bool { return f.Action.ending().forbidden != "" && f.Ends() == nil }

// Claims names the targets that the fault holds while it lasts, as in "the server of node 3".
// No two faults hold the same target at once.
func (f *Fault) Claims(s Setting) []string { return f.Action.claims(s) }

// Action is what a fault does, without its start and end: a pointer to one of the
// types of this package that [Kinds] lists.
type Action interface {
	// Kind names the action's kind.
	Kind() Kind
	// String describes the action, as in "node 2 crashes".
	String() string
	// Effects returns what the fault does in a setting. An empty action in an empty setting
	// returns the effects that every fault of the kind has: see [Kind.Does].
	Effects(s Setting) Effects
	// about describes the kind in a line, for lists and pages.
	about() string
	// claims names what the action affects, as in "the server of node 3". Two
	// faults with the same claim must not overlap.
	claims(s Setting) []string
	// ending returns whether the fault can end, and how.
	ending() ending
	// random draws an action of the same kind, for a setting in which the kind is
	// possible (see [unmetRequirement]).
	random(g *paramGenerator) Action
}

// settingValidator is implemented by actions whose fields need a check against the setting, besides the
// numbers of nodes and clients, which are checked for all. validate returns a [FieldError].
type settingValidator interface{ validate(s Setting) error }

// settingDependent is implemented by actions that are impossible in some settings,
// whatever their fields.
type settingDependent interface {
	// requires returns an error that names what the setting lacks; nil: nothing.
	requires(s Setting) error
}

// unmetRequirement returns an error if an action is impossible in a setting.
func unmetRequirement(a Action, s Setting) error {
	if n, ok := a.(settingDependent); ok {
		return n.requires(s)
	}
	return nil
}

// ending is how a fault can end. The zero value: its plan may name an end; without one it never ends.
type ending struct {
	required  bool          // the fault must name its end
	heals     bool          // the reason that it is required: the fault heals at its end
	forbidden string        // why the fault cannot have an end
	automatic string        // why the plan cannot name the end: the fault ends by itself
	after     time.Duration // the fault ends by itself after this time; 0: at once, if an end is forbidden
}

// Kind is a kind of fault.
type Kind string

// withArticle returns the kind with its article, as in "an evict".
func (k Kind) withArticle() string {
	if strings.ContainsRune("aeio", rune(k[0])) {
		return "an " + string(k)
	}
	return "a " + string(k)
}

// kinds lists every kind of fault by an empty action. Replay strings depend on the
// order: a new kind goes to the end.
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

// Kinds returns every kind of fault, and a line that describes each.
func Kinds() (names []Kind, what map[Kind]string) {
	what = make(map[Kind]string, len(kinds))
	for _, k := range kinds {
		names = append(names, k.zero.Kind())
		what[k.zero.Kind()] = k.zero.about()
	}
	return names, what
}
