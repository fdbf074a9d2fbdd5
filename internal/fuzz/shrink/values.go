package shrink

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
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
