package shrink

import (
	"fmt"
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

// simplifyValues simplifies each value by itself: the default or nothing, one value instead of
// a range, shorter lists, round numbers.
func simplifyValues(k *reduction) {
	for i := 0; ; i++ {
		list := leavesOf(&k.best)
		k.made += len(list)
		if i >= len(list) || k.exhausted() {
			return
		}
		for _, v := range list[i].simpler() {
			if k.tryValue(i, v) {
				break
			}
		}
	}
}

// tryValue tries another value of a leaf.
func (k *reduction) tryValue(i int, v reflect.Value) bool {
	s := k.best
	s.Clients = slices.Clone(s.Clients)
	s.Setting = s.Clone()
	leavesOf(&s)[i].v.Set(v)
	return k.try(s)
}

// simpler lists replacements of a value in the order in which to try them. Some are no
// smaller, and some are invalid.
func (l leaf) simpler() (list []reflect.Value) {
	if l.isDefault() {
		return nil
	}
	add := func(values ...any) {
		for _, v := range values {
			list = append(list, reflect.ValueOf(v).Convert(l.v.Type()))
		}
	}
	switch v := l.v.Interface().(type) {
	case time.Duration:
		add(l.defaultValue().Interface())
		for _, d := range l.durations(v) {
			add(d)
		}
	case nemesis.Range:
		add(l.defaultValue().Interface())
		for _, r := range ranges(v) {
			add(r)
		}
	case nemesis.Distribution:
		add(l.defaultValue().Interface())
		for _, r := range ranges(v.Range) {
			add(nemesis.Distribution{Range: r})
		}
	case nemesis.Trigger:
		for _, m := range simplerTriggers(v) {
			add(m)
		}
	case []int:
		add([]int(nil))
		for i := range v {
			add(slices.Delete(slices.Clone(v), i, i+1))
		}
	default:
		return l.others()
	}
	return list
}

// others is simpler for words, numbers, pointers and lists.
func (l leaf) others() (list []reflect.Value) {
	switch {
	case l.v.CanInt() && l.isTarget():
		return nil
	case l.v.CanInt():
		list = append(list, l.defaultValue())
		for _, n := range rounderNumbers(l.v.Int(), 1) {
			list = append(list, reflect.ValueOf(n).Convert(l.v.Type()))
		}
	case l.v.Kind() == reflect.Slice:
		for i := range l.v.Len() {
			shorter := reflect.MakeSlice(l.v.Type(), 0, l.v.Len()-1)
			shorter = reflect.AppendSlice(shorter, l.v.Slice(0, i))
			list = append(list, reflect.AppendSlice(shorter, l.v.Slice(i+1, l.v.Len())))
		}
	case l.name() == "workload":
		for _, w := range workloads {
			list = append(list, reflect.ValueOf(w))
		}
	default:
		list = append(list, l.defaultValue())
	}
	return list
}

// durations lists replacements of a duration. A time of the lock stays about as long: with a
// tenth of it, it would be another lock, and the bounds would not fit.
func (l leaf) durations(d time.Duration) (list []time.Duration) {
	for _, n := range rounderNumbers(int64(d), int64(time.Millisecond)) {
		if v := time.Duration(n); !strings.HasPrefix(l.path, "lock.") || v <= d && v >= d/2 {
			list = append(list, v)
		}
	}
	return list
}

// ranges lists replacements of a range, which are no longer: clients that work for longer than
// their lease would be another cause, and need no fault.
func ranges(r nemesis.Range) (list []nemesis.Range) {
	list = append(list, nemesis.Range{})
	for _, n := range append(rounderNumbers(int64(r.Max), int64(time.Millisecond)), int64(r.Min), int64(r.Max)) {
		if d := time.Duration(n); d <= r.Max {
			list = append(list, nemesis.Range{Min: d, Max: d})
		}
	}
	if r.Min == r.Max {
		return list
	}
	for _, n := range rounderNumbers(int64(r.Min), int64(time.Millisecond)) {
		list = append(list, nemesis.Range{Min: time.Duration(n), Max: r.Max})
	}
	for _, n := range rounderNumbers(int64(r.Max), int64(time.Millisecond)) {
		if d := time.Duration(n); d <= r.Max {
			list = append(list, nemesis.Range{Min: r.Min, Max: d})
		}
	}
	return list
}

// simplerTriggers lists simpler triggers for the same moment.
func simplerTriggers(m nemesis.Trigger) (list []nemesis.Trigger) {
	if m.After != nil {
		for _, n := range rounderNumbers(int64(*m.After), int64(time.Millisecond)) {
			list = append(list, *nemesis.After(time.Duration(n)))
		}
		return list
	}
	for _, field := range []func(*nemesis.Trigger) *int{
		func(m *nemesis.Trigger) *int { return &m.K },
		func(m *nemesis.Trigger) *int { return &m.Count },
	} {
		for n := range *field(&m) {
			less := m
			*field(&less) = n
			list = append(list, less)
		}
	}
	for _, n := range rounderNumbers(int64(m.Plus), int64(time.Millisecond)) {
		less := m
		less.Plus = time.Duration(n)
		list = append(list, less)
	}
	for _, n := range rounderNumbers(int64(m.At), int64(time.Millisecond)) {
		less := m
		less.At = time.Duration(n)
		list = append(list, less)
	}
	return list
}

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
