package nemesis

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

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
	{&LeaseRevoked{}},
	{&TTLRestart{}},
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

// kindEffects maps each kind to the effects that all its faults have: those of its empty action.
var kindEffects = func() map[Kind]Effect {
	of := make(map[Kind]Effect, len(kinds))
	for _, k := range kinds {
		of[k.zero.Kind()] = k.zero.Effects(Setting{}).Does
	}
	return of
}()

// Known reports whether there are faults of the kind.
func (k Kind) Known() bool {
	_, known := kindEffects[k]
	return known
}

// UnknownKind is the error of a name that no kind of fault has.
func UnknownKind(k Kind) error {
	e := &textfmt.UnknownError{What: "kind of fault", Name: string(k)}
	for _, known := range kinds {
		e.Known = append(e.Known, string(known.zero.Kind()))
	}
	return e
}

// Does reports whether all faults of the kind have one of these effects. An unknown kind has no effects.
func (k Kind) Does(one Effect) bool { return kindEffects[k].Any(one) }

// KindsThat lists the kinds that do one of these effects (see [Kind.Does]), in the order of [Kinds].
func KindsThat(do Effect) []Kind { return kindsWith(func(k Kind) bool { return k.Does(do) }) }

// kindsWith lists the kinds for which wanted is true, in the order of [Kinds].
func kindsWith(wanted func(Kind) bool) (list []Kind) {
	for _, k := range kinds {
		if kind := k.zero.Kind(); wanted(kind) {
			list = append(list, kind)
		}
	}
	return list
}

// Kinds returns the kinds of the plan's faults, each once, in the order of [Kinds].
func (p Plan) Kinds() []Kind {
	return kindsWith(func(k Kind) bool {
		return slices.ContainsFunc(p, func(f Fault) bool { return f.Action.Kind() == k })
	})
}

// FewKinds lists the kinds that [Few] knows.
func FewKinds() (names []Kind) {
	for _, a := range Actions() {
		if _, ok := a.(enumerable); ok {
			names = append(names, a.Kind())
		}
	}
	return names
}

// Few lists the faults of a kind that an exploration tries: on each target, with a few values. Those
// that last do so for scale, the TTL of the lock. Those with a start of zero can begin at any time. Each
// is also listed with its start at each step of a client; one that stops a client's program at the steps
// of that program, as a scheduler preempts it.
func Few(kind Kind, s Setting, scale time.Duration) ([]Fault, error) {
	for _, a := range Actions() {
		e, ok := a.(enumerable)
		if a.Kind() != kind || !ok {
			continue
		}
		all := e.few(fewParams{s, scale})
		for _, f := range slices.Clone(all) {
			all = append(all, f.atSteps(s)...)
		}
		return all, nil
	}
	return nil, fmt.Errorf("%q: want one of the kinds %v", kind, FewKinds())
}

// Variants are the kinds: in a file the action is a field with the name of its kind.
func (Fault) Variants() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, k := range kinds {
			if !yield(string(k.zero.Kind()), k.zero) {
				return
			}
		}
	}
}
