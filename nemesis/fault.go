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
	// validate returns a [FieldError] for a field that does not fit the setting.
	validate(s Setting) error
	// claims names what the action affects, as in "the server of node 3". Two
	// faults with the same claim must not overlap.
	claims(s Setting) []string
	// ending says whether the fault can end, and how.
	ending() ending
	// random returns an action of the same kind with drawn fields, for a setting
	// that meets its requirement (see [unmetRequirement]).
	random(g *paramGenerator) Action
}

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

// kinds lists every kind of fault with its effect. Replay strings depend on the
// order: a new kind goes to the end.
var kinds = []struct {
	zero Action
	what string
}{
	{&Crash{}, "a node's server dies and, at the end, starts again; what it keeps is its persistence"},
	{&PowerLoss{}, "a node's machine loses power, and with it what was not synced; at the end it starts again"},
	{&Shutdown{}, "a node's server is shut down cleanly and, at the end, starts again"},
	{&Failover{}, "a node's master dies and, at the end, its asynchronous replica takes over"},
	{&OldSnapshot{}, "a node's server dies and, at the end, starts again from an old snapshot"},
	{&NodePause{}, "a node's server stands still; requests wait in its socket"},
	{&NodeError{}, "nodes answer with an error: LOADING, OOM or READONLY"},
	{&Evict{}, "a node evicts keys: one, those with a time to live, or all that it has"},
	{&ScriptFlush{}, "a node forgets its scripts"},
	{&Partition{}, "messages between clients and nodes are held back until the end"},
	{&Latency{}, "messages between clients and nodes take longer"},
	{&Loss{}, "messages between clients and nodes are lost and sent again, which shows as delay or as a reset"},
	{&Reset{}, "connections between clients and nodes are reset, before the request takes effect or after"},
	{&Bandwidth{}, "messages between a client and a node share so many bytes a second"},
	{&Split{}, "clients and nodes fall into groups that cannot reach each other, but for bridges"},
	{&GuardLatency{}, "accesses to the guarded resource take longer on their way"},
	{&Pause{}, "a client stands still: a long garbage collection, a stopped process"},
	{&Kill{}, "a client dies"},
	{&Cancel{}, "the call that a client has under way is cancelled"},
	{&ClockJump{}, "a node's or a client's wall clock steps forward or back"},
	{&ClockRate{}, "a node's or a client's clocks run fast or slow"},
	{&ClockSlew{}, "a node's or a client's clocks run fast or slow until they have gained or lost a given time"},
	{&ClockStrobe{}, "a node's or a client's wall clock flips between two times"},
	{&ClockFreeze{}, "a node's or a client's wall clock stands still"},
	{&Suspend{}, "a client's machine sleeps: its program and its monotonic clock stand still"},
	{&Snapshot{}, "a client's machine is stopped and restored: its program and all its clocks stand still"},
	{&Duplicate{}, "requests come to a node twice, the second time perhaps much later: a proxy sends them again"},
	{&Clone{}, "clients' machines become clones of one: they draw the same random numbers from then on"},
	{&VMRestore{}, "a node's machine is restored from a memory snapshot: its keys of then, its run id the same"},
	{&SplitBrain{}, "a node's replica is promoted while its master still answers: two masters, each for some clients"},
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
