package shrink

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// leaf is a value of a scenario that can be simplified by itself, with its path in a file.
type leaf struct {
	path string
	v    reflect.Value
}

// name returns the name of the field.
func (l leaf) name() string { return l.path[strings.LastIndexByte(l.path, '.')+1:] }

// isTarget reports whether the value is the number of a node or a client.
func (l leaf) isTarget() bool { return l.name() == "node" || l.name() == "client" }

// atomicTypes are the types of values that are simplified as a whole.
var atomicTypes = map[reflect.Type]bool{
	reflect.TypeFor[nemesis.Range]():        true,
	reflect.TypeFor[nemesis.Distribution](): true,
	reflect.TypeFor[nemesis.Trigger]():      true,
}

// leavesOf lists the values of a scenario, always in the same order. It leaves out the numbers
// of nodes, clients and rounds, texts and bounds.
func leavesOf(s *scenarios.Scenario) []leaf {
	var list leaves
	list.walk("lock", reflect.ValueOf(&s.Lock).Elem())
	for i := range s.Clients {
		list.walk(fmt.Sprintf("clients[%d]", i), reflect.ValueOf(&s.Clients[i]).Elem())
	}
	list.walk("setting", reflect.ValueOf(&s.Setting).Elem())
	for i := range s.Plan {
		f := &s.Plan[i]
		at := fmt.Sprintf("plan[%d]", i)
		list.walk(at, reflect.ValueOf(f.Action))
		list.walk(at+".start", reflect.ValueOf(&f.Start).Elem())
		list.walk(at+".end", reflect.ValueOf(&f.End).Elem())
	}
	return list
}

type leaves []leaf

// skippedFields have passes of their own, or stay.
var skippedFields = map[string]bool{
	"lock.kind": true, "clients.resource": true, "clients.rounds": true,
	"setting.nodes": true, "setting.clients": true, "setting.plan": true,
}

func (l *leaves) walk(path string, v reflect.Value) {
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
	case v.Kind() == reflect.Pointer:
		if v.CanSet() && v.Type() != reflect.TypeFor[*nemesis.Trigger]() {
			*l = append(*l, leaf{path, v})
		}
		l.walk(path, v.Elem())
	case v.Kind() == reflect.Struct && !atomicTypes[v.Type()]:
		l.fields(path, v)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		*l = append(*l, leaf{path, v})
		for i := range v.Len() {
			l.walk(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	default:
		*l = append(*l, leaf{path, v})
	}
}

func (l *leaves) fields(path string, v reflect.Value) {
	topic := genericPath(path)
	for _, m := range form.Rows(v.Type()) {
		switch {
		case m.Name == "-" || skippedFields[topic+"."+m.Name]:
		case m.Name == "": // its fields stand beside the others
			l.walk(path, v.FieldByIndex(m.Index))
		default:
			l.walk(path+"."+m.Name, v.FieldByIndex(m.Index))
		}
	}
}

// genericPath returns a path without the index of the client or fault.
func genericPath(path string) string {
	before, rest, _ := strings.Cut(path, "[")
	_, after, _ := strings.Cut(rest, "]")
	return before + after
}

// isDefault reports whether the value is the default.
func (l leaf) isDefault() bool {
	return reflect.DeepEqual(l.v.Interface(), l.defaultValue().Interface())
}

// defaultValue returns the default of the value, or its zero value.
func (l leaf) defaultValue() reflect.Value {
	if v, ok := defaults[genericPath(l.path)]; ok {
		return v
	}
	if l.name() == "percent" {
		return reflect.ValueOf(100)
	}
	return reflect.Zero(l.v.Type())
}

// defaults are the values of an ordinary lock in an ordinary world, by generic path. The lock
// is that of most rows of the debate. Clients work for a while, since holds that are over at
// once show little.
var defaults = func() map[string]reflect.Value {
	const ms = time.Millisecond
	s := &scenarios.Scenario{
		Lock: scenarios.Lock{
			TTL: time.Second, DriftFactor: 0.01, NodeTimeout: 50 * ms, Linger: 200 * ms,
			Retry: nemesis.Range{Min: 20 * ms, Max: 80 * ms},
		},
		Clients: []scenarios.Client{{Work: nemesis.Range{Min: 100 * ms, Max: 100 * ms}}},
		Setting: nemesis.Setting{
			Persistence: nemesis.Nothing, Guard: guard.Plain,
			Latency: nemesis.Distribution{Range: nemesis.Range{Min: ms, Max: ms}},
		},
	}
	all := map[string]reflect.Value{}
	for _, l := range leavesOf(s) {
		all[genericPath(l.path)] = l.v
	}
	return all
}()

// workloads are the simple ones, the simplest first.
var workloads = []string{"hold", "section"}

// steps are all steps, beginning with the grant.
var steps = func() (names []string) {
	names = []string{env.StepGranted.String()}
	for _, s := range env.Steps() {
		if s != env.StepGranted {
			names = append(names, s.String())
		}
	}
	return names
}()

// indexIn returns the index of a word in a list, or the length of the list.
func indexIn(word string, list []string) int {
	if i := slices.Index(list, word); i >= 0 {
		return i
	}
	return len(list)
}

// roundNumbers yields 1, 2, 5, 10, … times a unit.
func roundNumbers(unit int64) func(yield func(int64) bool) {
	return func(yield func(int64) bool) {
		for ; ; unit *= 10 {
			for _, first := range []int64{1, 2, 5} {
				if unit > math.MaxInt64/10 || !yield(first*unit) {
					return
				}
			}
		}
	}
}

// rounderNumbers lists replacements of n in the order in which to try them: 0; the round
// numbers from a unit up to the first above n, smallest first; n with fewer digits. For a
// negative number it lists positive ones, too.
func rounderNumbers(n, unit int64) []int64 {
	if n < 0 {
		list := rounderNumbers(-n, unit)
		for i := range list {
			list[i] = -list[i]
		}
		return append(rounderNumbers(-n, unit), list...)
	}
	list := []int64{0}
	for r := range roundNumbers(unit) {
		list = append(list, r)
		if r > n {
			break
		}
	}
	for place := int64(1e18); place > 1; place /= 10 {
		if down := n - n%place; down > 0 && down < n {
			list = append(list, down, down+place)
		}
	}
	return list
}
