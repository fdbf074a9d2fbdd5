// Package hostiletest draws scenarios at the limits of what is valid: ordinary ones with some
// fields at their least and largest values. With them tests check that every valid scenario
// can be run, judged and reduced with limited resources.
package hostiletest

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Draw draws a scenario, which may be invalid.
func Draw(t *rapid.T) scenarios.Scenario {
	s := clone(rapid.SampledFrom(bases()).Draw(t, "base"))
	if rapid.IntRange(0, 3).Draw(t, "all at once") == 0 {
		instant(&s)
	}
	if n := rapid.SampledFrom([]int{1, 1, 1, 1, 8, 100}).Draw(t, "as many clients"); n > 1 {
		s.Clients = slices.Repeat(s.Clients, n)
	}
	for range rapid.IntRange(0, 6).Draw(t, "changes") {
		all := leavesOf(reflect.ValueOf(&s).Elem())
		l := all[rapid.IntRange(0, len(all)-1).Draw(t, "field")]
		if v, ok := extreme(t, l); ok {
			l.value.Set(v.Convert(l.value.Type()))
		}
	}
	s.Expect = nil
	return s
}

// bases returns the rows of the debate and the contenders in their trials.
func bases() []scenarios.Scenario { return scenarios.Every() }

// instant removes all latencies and retry delays.
func instant(s *scenarios.Scenario) {
	s.Latency, s.Links, s.Lock.Retry = nemesis.Distribution{}, nil, nemesis.Range{}
}

// clone copies what changes would share.
func clone(s scenarios.Scenario) scenarios.Scenario {
	s.Clients, s.Setting = slices.Clone(s.Clients), s.Clone()
	return s
}

// leaf is a field with a simple value.
type leaf struct {
	value reflect.Value
	limit *form.Limit
}

// leavesOf returns the simple fields of a value and of all in it.
func leavesOf(v reflect.Value) (list []leaf) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return leavesOf(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			list = append(list, leavesOf(v.Index(i))...)
		}
	case reflect.Struct:
		for _, f := range form.Rows(v.Type()) {
			field := v.FieldByIndex(f.Index)
			switch {
			case f.Name == "-":
			case ofValue(field):
				list = append(list, leaf{field, f.Limit})
			default:
				list = append(list, leavesOf(field)...)
			}
		}
	}
	return slices.DeleteFunc(list, func(l leaf) bool { return !l.value.CanSet() })
}

func ofValue(v reflect.Value) bool {
	return v.CanInt() || v.CanUint() || v.CanFloat() || v.Kind() == reflect.Bool || v.Kind() == reflect.String
}

// extreme draws a value at a limit of a field, or beyond.
func extreme(t *rapid.T, l leaf) (v reflect.Value, ok bool) {
	of := func(list ...any) (reflect.Value, bool) {
		return reflect.ValueOf(list[rapid.IntRange(0, len(list)-1).Draw(t, "value")]), true
	}
	const ns = time.Nanosecond
	switch {
	case l.value.Type() == reflect.TypeFor[time.Duration]():
		return of(0*ns, ns, 0*ns, ns, time.Microsecond, 100*time.Microsecond, time.Millisecond, time.Second, time.Hour, nemesis.MaxDuration)
	case l.value.CanInt():
		return of(0, 1, 2, 64, 1000, 100_000, math.MaxInt32, math.MaxInt)
	case l.value.CanFloat():
		return of(0.0, 1e-9, 0.5, 1.0, 100.0, 1e300, -1.0)
	case l.value.Kind() == reflect.Bool:
		return of(true, false)
	case l.limit != nil && l.limit.OneOf != nil:
		return reflect.ValueOf(rapid.SampledFrom(l.limit.OneOf).Draw(t, "word")), true
	}
	return v, false
}

// Describe describes a scenario in a message.
func Describe(s scenarios.Scenario) string {
	return fmt.Sprintf("%s: lock %+v, %d clients, the first %+v, %d nodes, latency %v, horizon %v, plan %v",
		s.Name, s.Lock, len(s.Clients), s.Clients[0], s.Nodes, s.Latency, s.Horizon, s.Plan)
}
