package hunt

import (
	"slices"
	"time"
)

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
