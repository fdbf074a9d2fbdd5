package shrink

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
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
