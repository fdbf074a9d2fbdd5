package nemesis

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/form"
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
// whatever their fields. Generators and hunts then skip the kind. A plan that names it is rejected
// only by validate, which has to call requires.
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

// Kind is a kind of fault.
type Kind string

// withArticle returns the kind with its article, as in "an evict".
func (k Kind) withArticle() string {
	if strings.ContainsRune("aeio", rune(k[0])) {
		return "an " + string(k)
	}
	return "a " + string(k)
}

// EachValue calls visit with every number, duration and list of them in a fault, so that code that
// changes plans need not know the kinds: with its name in a file and a pointer to it, which is a
// *int, *int64, *float64, *time.Duration, *[]int or *[]time.Duration. Values named node, client,
// nodes or clients are numbers of those. An empty end has no values.
//
// A list may be shared with a [Plan.Clone]: replace it to change it. Not every value is possible,
// nor every combination: [Setting.Validate] and [Plan.Disjoint] check.
func (f *Fault) EachValue(visit func(name string, value any)) {
	_ = form.Walk(f, func(name string, v reflect.Value) (bool, error) {
		if !v.CanAddr() {
			return false, nil
		}
		p := v.Addr().Interface()
		switch p.(type) {
		case *int, *int64, *float64, *time.Duration, *[]int, *[]time.Duration:
			visit(name, p)
			return true, nil
		}
		return false, nil
	})
}

// Named returns the numbers of the clients and nodes that an action names, each in
// ascending order. Of whom it names none it is about all, or about none.
func Named(a Action) (clients, nodes []int) {
	all := map[string][]int{}
	_ = form.Walk(a, func(name string, v reflect.Value) (bool, error) {
		if v.Kind() == reflect.Int && v.Int() > 0 {
			all[name] = append(all[name], int(v.Int()))
		}
		return false, nil
	})
	sorted := func(one, more string) []int {
		list := slices.Concat(all[one], all[more])
		slices.Sort(list)
		return slices.Compact(list)
	}
	return sorted("client", "clients"), sorted("node", "nodes")
}

// BringsBack reports whether the fault takes a node's server down, and its end or the node's machine starts
// one again.
func (f *Fault) BringsBack() bool {
	o := f.Action.Effects(Setting{}).Outage
	return o.Node != 0 && !o.Stays && !f.ForGood()
}

// Simpler returns a similar action of a simpler kind or with simpler values; nil: there is none.
func Simpler(a Action, s Setting) Action {
	if k, ok := a.(interface{ simpler(s Setting) Action }); ok {
		return k.simpler(s)
	}
	return nil
}

// Opposite returns the same clock error in the other direction, if the kind has one.
func Opposite(a Action) (Action, bool) {
	if k, ok := a.(interface{ opposite() Action }); ok {
		return k.opposite(), true
	}
	return a, false
}

// Pruner is implemented by actions whose lists may become empty when clients or nodes are removed.
type Pruner interface {
	// Prune removes lists and groups that have become empty, and reports whether the fault still does something.
	Prune() bool
}

// Feature is an option that only some faults of a kind use. A backend may support
// the kind without the feature. It is written as in a plan, as in "first: timers".
type Feature string

// featureUser is implemented by actions that may need features.
type featureUser interface{ features() []Feature }

// featuresOf returns the features that an action needs.
func featuresOf(a Action) []Feature {
	if d, ok := a.(featureUser); ok {
		return d.features()
	}
	return nil
}
