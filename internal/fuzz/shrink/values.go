package shrink

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// simplerValues makes each value by itself simpler: what an ordinary scenario has, or
// nothing; one value in place of a range; shorter lists; round numbers.
func simplerValues(k *shrinking) {
	for i := 0; ; i++ {
		list := leavesOf(&k.best)
		k.made += len(list)
		if i >= len(list) || k.over() {
			return
		}
		for _, v := range list[i].simpler() {
			if k.tryValue(i, v) {
				break
			}
		}
	}
}

// tryValue tries another value in the place of a leaf.
func (k *shrinking) tryValue(i int, v reflect.Value) bool {
	s := k.best
	s.Clients = slices.Clone(s.Clients)
	s.Setting = s.Clone()
	leavesOf(&s)[i].v.Set(v)
	return k.try(s)
}

// simpler lists what might stand in the place of a value, in the order in which it
// should be tried. Some of it is no smaller, and some impossible.
func (l leaf) simpler() (list []reflect.Value) {
	if l.usual() {
		return nil
	}
	add := func(values ...any) {
		for _, v := range values {
			list = append(list, reflect.ValueOf(v).Convert(l.v.Type()))
		}
	}
	switch v := l.v.Interface().(type) {
	case time.Duration:
		add(l.ordinary().Interface())
		for _, d := range l.durations(v) {
			add(d)
		}
	case nemesis.Range:
		add(l.ordinary().Interface())
		for _, r := range ranges(v) {
			add(r)
		}
	case nemesis.Distribution:
		add(l.ordinary().Interface())
		for _, r := range ranges(v.Range) {
			add(nemesis.Distribution{Range: r})
		}
	case nemesis.Trigger:
		for _, m := range moments(v) {
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

// others is simpler for words, numbers, what can be left out, and lists of such.
func (l leaf) others() (list []reflect.Value) {
	switch {
	case l.v.CanInt() && l.numbers():
		return nil
	case l.v.CanInt():
		list = append(list, l.ordinary())
		for _, n := range rounder(l.v.Int(), 1) {
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
		list = append(list, l.ordinary())
	}
	return list
}

// durations are what a duration can be made of. A time of the lock's own stays about
// what it is: a lock with a tenth of it is another one, and the bounds do not fit it.
func (l leaf) durations(d time.Duration) (list []time.Duration) {
	for _, n := range rounder(int64(d), int64(time.Millisecond)) {
		if v := time.Duration(n); !strings.HasPrefix(l.path, "lock.") || v <= d && v >= d/2 {
			list = append(list, v)
		}
	}
	return list
}

// ranges are what a range can be made of. It is never made longer: clients that work
// for longer than their lease would be another story, and need no fault.
func ranges(r nemesis.Range) (list []nemesis.Range) {
	list = append(list, nemesis.Range{})
	for _, n := range append(rounder(int64(r.Max), int64(time.Millisecond)), int64(r.Min), int64(r.Max)) {
		if d := time.Duration(n); d <= r.Max {
			list = append(list, nemesis.Range{Min: d, Max: d})
		}
	}
	if r.Min == r.Max {
		return list
	}
	for _, n := range rounder(int64(r.Min), int64(time.Millisecond)) {
		list = append(list, nemesis.Range{Min: time.Duration(n), Max: r.Max})
	}
	for _, n := range rounder(int64(r.Max), int64(time.Millisecond)) {
		if d := time.Duration(n); d <= r.Max {
			list = append(list, nemesis.Range{Min: r.Min, Max: d})
		}
	}
	return list
}

// moments are the same moment, told with less.
func moments(m nemesis.Trigger) (list []nemesis.Trigger) {
	if m.After != nil {
		for _, n := range rounder(int64(*m.After), int64(time.Millisecond)) {
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
	for _, n := range rounder(int64(m.Plus), int64(time.Millisecond)) {
		less := m
		less.Plus = time.Duration(n)
		list = append(list, less)
	}
	for _, n := range rounder(int64(m.At), int64(time.Millisecond)) {
		less := m
		less.At = time.Duration(n)
		list = append(list, less)
	}
	return list
}

// leaf is a value of a scenario that can be made simpler by itself, and by which path
// a file leads to it.
type leaf struct {
	path string
	v    reflect.Value
}

// name is that of the field.
func (l leaf) name() string { return l.path[strings.LastIndexByte(l.path, '.')+1:] }

// numbers reports whether the value says who is meant, and not how many or how much.
func (l leaf) numbers() bool { return l.name() == "node" || l.name() == "client" }

// whole are the types of values that are made simpler as a whole.
var whole = map[reflect.Type]bool{
	reflect.TypeFor[nemesis.Range]():        true,
	reflect.TypeFor[nemesis.Distribution](): true,
	reflect.TypeFor[nemesis.Trigger]():      true,
}

// leavesOf lists the values of a scenario, always in the same order. How many nodes,
// clients and rounds there are is no affair of theirs, nor are the words and the bounds.
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

// apart are fields with passes of their own, or that stay.
var apart = map[string]bool{
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
	case v.Kind() == reflect.Struct && !whole[v.Type()]:
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
	topic := general(path)
	for _, m := range nemesis.MembersOf(v.Type()) {
		switch {
		case m.Name == "-" || apart[topic+"."+m.Name]:
		case m.Name == "": // its fields stand beside the others
			l.walk(path, v.Field(m.Index))
		default:
			l.walk(path+"."+m.Name, v.Field(m.Index))
		}
	}
}

// general is a path for whichever client, or fault, it is.
func general(path string) string {
	before, rest, _ := strings.Cut(path, "[")
	_, after, _ := strings.Cut(rest, "]")
	return before + after
}

// usual reports whether a value need not be mentioned.
func (l leaf) usual() bool { return reflect.DeepEqual(l.v.Interface(), l.ordinary().Interface()) }

// ordinary is the value that need not be mentioned: that of an ordinary scenario, or
// else nothing.
func (l leaf) ordinary() reflect.Value {
	if v, ok := ordinary[general(l.path)]; ok {
		return v
	}
	if l.name() == "percent" {
		return reflect.ValueOf(100)
	}
	return reflect.Zero(l.v.Type())
}

// ordinary are the values of an ordinary lock in an ordinary world, by their general
// paths. The lock is that of most rows of the debate. Clients have something to do
// meanwhile: of holds that are over at once no story is told.
var ordinary = func() map[string]reflect.Value {
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
		all[general(l.path)] = l.v
	}
	return all
}()

// workloads are those that are known to be simple, the simplest first.
var workloads = []string{"hold", "section"}

// steps are all steps. Whoever tells a story begins with the grant.
var steps = func() (names []string) {
	names = []string{env.StepGranted.String()}
	for _, s := range env.Steps() {
		if s != env.StepGranted {
			names = append(names, s.String())
		}
	}
	return names
}()

// placeOf is where a word stands in a list, the length of the list if it does not.
func placeOf(word string, list []string) int {
	for i, w := range list {
		if w == word {
			return i
		}
	}
	return len(list)
}
