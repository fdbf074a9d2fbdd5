package nemesis

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/form"
)

// FieldError is a value of a setting or plan that cannot be. Path leads to it, as in
// "plan[2].crash.node".
type FieldError = form.FieldError

// MaxDuration is the longest duration, positive or negative, that a setting or plan can name.
const MaxDuration = form.MaxDuration

// field puts one more step in front of the path to a wrong value.
func field(name string, err error) error { return form.In(name, err) }

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

// Clone returns a copy of the plan. It shares nothing with it but lists of numbers,
// durations and words.
func (p Plan) Clone() Plan { return form.Clone(p) }

// Clone returns a copy of the setting. It shares nothing with it but lists of numbers,
// durations and words.
func (s Setting) Clone() Setting { return form.Clone(s) }

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

// validateNumbers returns an error for a number of a node or a client that the setting does not have,
// or that a list names twice. 0 is no number of any, and an empty list means all or none.
func (s Setting) validateNumbers(value any) error {
	return form.Walk(value, func(name string, v reflect.Value) (bool, error) {
		what := strings.TrimSuffix(name, "s")
		most := s.Nodes
		switch what {
		case "client":
			most = s.Clients
		case "node":
		default:
			return false, nil
		}
		switch n := v.Interface().(type) {
		case int:
			if n != 0 {
				return true, oneOf(what, n, most)
			}
		case []int:
			return true, someOf(what, n, most)
		}
		return false, nil
	})
}
