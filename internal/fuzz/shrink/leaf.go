package shrink

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

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
