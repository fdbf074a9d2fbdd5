package fuzz

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Limited returns the assumptions of the terms that rule something out, in the order of
// the properties that rest on them.
func (t Terms) Limited() (limited []Assumptions) {
	for _, p := range checker.Properties() {
		if a := t[p]; a.some() {
			limited = append(limited, a)
		}
	}
	return limited
}

// Edge returns where the assumptions draw the line for one value of a fault, beside the
// faults of the scenario's plan: the last size of it that they admit, and the first that
// they rule out, with the sign that the value has. value is a pointer that
// [nemesis.Fault.EachValue] has given for this fault; a *int64 counts in ones, a
// *[time.Duration] in microseconds. There is no line, and ok is false, for values of other
// types, for what is 0, and where all sizes up to the largest that matters are alike.
//
// The line is found by trying, so that it is that of whatever judges the fault: a limit of
// the assumption, less what other faults use up of it, or what follows from several.
func (a Assumptions) Edge(s scenarios.Scenario, f *nemesis.Fault, value any) (inside, outside int64, ok bool) {
	v, ok := sizeOf(value, s)
	if !ok {
		return 0, 0, false
	}
	defer v.set(v.was)
	plan := slices.Clip(s.Plan)
	admits := func(size int64) bool {
		v.set(size)
		s.Plan = append(plan, *f)
		return a.Outside(s) == nil
	}
	low, high := v.unit, v.largest
	small := admits(low)
	if small == admits(high) {
		return 0, 0, false
	}
	for high-low > v.unit {
		if middle := low + (high-low)/2/v.unit*v.unit; admits(middle) == small {
			low = middle
		} else {
			high = middle
		}
	}
	if small {
		return v.signed(low), v.signed(high), true
	}
	return v.signed(high), v.signed(low), true
}

// size is a value of a fault that can be larger or smaller.
type size struct {
	set           func(size int64) // without its sign
	was           int64
	negative      bool
	unit, largest int64
}

func (v size) signed(size int64) int64 {
	if v.negative {
		return -size
	}
	return size
}

// longestThatMatters is how many of the longest TTL a duration is looked at: what lasts
// for longer has outlasted everything.
const longestThatMatters = 16

func sizeOf(value any, s scenarios.Scenario) (v size, ok bool) {
	switch at := value.(type) {
	case *int64:
		v = size{was: *at, unit: 1, largest: nemesis.MaxPPM}
		v.set = func(size int64) { *at = v.signed(size) }
	case *time.Duration:
		longest := (longestThatMatters * max(s.LongestTTL(), s.Lock.Quarantine)).Truncate(time.Microsecond)
		v = size{was: int64(*at), unit: int64(time.Microsecond), largest: int64(longest)}
		v.set = func(size int64) { *at = time.Duration(v.signed(size)) }
	}
	v.negative, v.was = v.was < 0, max(v.was, -v.was)
	return v, v.was != 0
}
