package fuzz

import (
	"reflect"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// turn changes one value of a fault, a time, whom it hits, a rate, and mostly that of
// faults that are like it in this: what befalls many nodes alike still does.
func (m *mutation) turn() bool {
	f := m.fault()
	if f == nil {
		return false
	}
	before := nemesis.Plan{*f}.Clone()[0]
	own, old := valuesOf(f), valuesOf(&before)
	i := m.below(len(own))
	turn := m.turning(own[i].name, own[i].at.Interface())
	if turn == nil {
		return false
	}
	turn()
	if m.numbers(own[i].name) > 0 || m.below(4) == 0 {
		return true
	}
	for j := range m.Scenario.Plan {
		g := &m.Scenario.Plan[j]
		if v := valuesOf(g); g.Action.Kind() == f.Action.Kind() && len(v) == len(old) && v[i].equal(old[i]) {
			v[i].at.Elem().Set(own[i].at.Elem())
		}
	}
	return true
}

// value is one of a fault.
type value struct {
	name string
	at   reflect.Value // a pointer to it
}

func (v value) equal(w value) bool {
	return v.name == w.name && reflect.DeepEqual(v.at.Interface(), w.at.Interface())
}

func valuesOf(f *nemesis.Fault) (all []value) {
	f.EachValue(func(name string, at any) { all = append(all, value{name, reflect.ValueOf(at)}) })
	return all
}

// turning returns what changes a value of a fault, nil where there is nothing to
// change: what is 0 stands for nothing, or for the usual.
func (m *mutation) turning(name string, value any) func() {
	switch v := value.(type) {
	case *int:
		of := m.numbers(name)
		switch {
		case of == 0:
			return turnNumber(m, v, 1)
		case of > 1 && *v > 0:
			return func() { *v = 1 + (*v+m.below(of-1))%of }
		}
	case *int64:
		return turnNumber(m, v, 1)
	case *time.Duration:
		if *v == 0 && name == "after" {
			return func() { *v = m.Scenario.Lock.TTL >> m.below(8) }
		}
		return turnNumber(m, v, time.Microsecond)
	case *[]int:
		if of := m.numbers(name); of > 1 {
			return func() { *v = m.others(*v, of) }
		}
	}
	return nil
}

// turnNumber returns what halves or doubles a number, or makes it a little larger or
// smaller, by steps of unit.
func turnNumber[T int | int64 | time.Duration](m *mutation, v *T, unit T) func() {
	if *v == 0 {
		return nil
	}
	return func() {
		switch old := *v; m.below(5) {
		case 0, 1:
			*v = old / 2
		case 2, 3:
			*v = old * 2
		default:
			*v = old + max(old/8, unit)*T(2*m.below(2)-1)
		}
		if abs := max(*v, -*v); abs > unit {
			*v -= *v % unit // times that are easy to read
		}
	}
}

// numbers returns how many there are of whom a number or a list of numbers names; 0: it
// names nobody.
func (m *mutation) numbers(name string) int {
	switch name {
	case "node", "nodes":
		return m.Scenario.Nodes
	case "client", "clients":
		return len(m.Scenario.Clients)
	}
	return 0
}

// others returns a list of numbers out of 1 to n with one more or one less than the
// given, of which an empty one means all.
func (m *mutation) others(list []int, n int) []int {
	if i := 1 + m.below(n); slices.Contains(list, i) {
		return slices.DeleteFunc(slices.Clone(list), func(j int) bool { return i == j })
	} else if list = append(slices.Clone(list), i); len(list) < n {
		slices.Sort(list)
		return list
	}
	return nil
}
