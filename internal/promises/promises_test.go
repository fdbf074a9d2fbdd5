package promises_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: no lock promises anything with clones, whose tokens are the same. A resource that
// checks its own fences does, and none that checks tokens. If tokens are times, clones have
// different ones; but they draw the same retry delays.
func TestNoLockPromisesAnythingOfClones(t *testing.T) {
	for _, s := range deployed(t) {
		noPromiseOfClones(t, s)
		if s.Lock.Kind == "redlock" || s.Lock.Kind == "single-node" {
			s.Lock.Tokens = "time"
			noPromiseOfClones(t, s)
		}
	}
}

func noPromiseOfClones(t *testing.T, s scenarios.Scenario) {
	s.Plan = nemesis.Plan{cloned}
	for _, g := range []guard.Mode{s.Guard, guard.Token} {
		s.Guard = g
		for p, a := range promises.Of(s) {
			want := p == checker.Effect && g == guard.Fenced && s.Lock.Fence == "" && s.Store == nil
			if s.Lock.Tokens == "time" && (p == checker.Cleanup || p == checker.Contract || p == checker.FaultTolerance) {
				want = true
			}
			if inside := a.Outside(s) == nil; inside != want {
				t.Errorf("%s with tokens %q, whose resource is %s: a clone inside the assumptions of %s: %t, want %t", s.Lock.Kind, s.Lock.Tokens, g, p.Title(), inside, want)
			}
		}
	}
}

var cloned = nemesis.Fault{Action: &nemesis.Clone{}, Start: nemesis.At(0)}

// Law: an unknown lock promises no more than Redlock, and in these plans as much, except that
// clocks are perfect, and that a lock without an end of validity need not read a clock.
func TestExternalTerms(t *testing.T) {
	after := nemesis.After
	pause := nemesis.Fault{Action: &nemesis.Pause{Client: 1}, End: after(time.Minute)}
	for name, c := range map[string]struct {
		fault    nemesis.Fault
		endless  bool
		property checker.Property
		excused  bool
	}{
		"pause, V1":             {pause, false, checker.Lease, false},
		"pause, V1 without end": {pause, true, checker.Lease, true},
		"pause, V2":             {pause, false, checker.Section, true},
		"pause, V3":             {pause, false, checker.Effect, true},
		"pause, V4 without end": {pause, true, checker.Fence, true},
		"pause, L1":             {pause, false, checker.DeadlockFreedom, false},
		"back soon, V1":         {nemesis.Fault{Action: &nemesis.Crash{Node: 1}, End: after(time.Millisecond)}, false, checker.Lease, true},
		"back late, V1":         {nemesis.Fault{Action: &nemesis.Crash{Node: 1}, End: after(time.Hour)}, false, checker.Lease, false},
		"back late, V4":         {nemesis.Fault{Action: &nemesis.Crash{Node: 1}, End: after(time.Hour)}, false, checker.Fence, true},
		"late, V4 without end":  {nemesis.Fault{Action: &nemesis.Latency{}}, true, checker.Fence, false},
		"a clock, V1":           {nemesis.Fault{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 1}, By: 1}}, false, checker.Lease, true},
		"a rate, V1":            {nemesis.Fault{Action: &nemesis.ClockRate{Machine: nemesis.Machine{Node: 1}, PPM: 1}}, false, checker.Lease, true},
		"slow for ever, L1":     {nemesis.Fault{Action: &nemesis.Latency{}}, false, checker.DeadlockFreedom, true},
		"slow for ever, C":      {nemesis.Fault{Action: &nemesis.Latency{}}, false, checker.Contract, false},
		"slow for ever, V1":     {nemesis.Fault{Action: &nemesis.Latency{}}, false, checker.Lease, false},
	} {
		s, err := scenarios.Find("calm")
		if err != nil {
			t.Fatal(err)
		}
		s.Plan = nemesis.Plan{c.fault}
		if why := promises.OfExternal(s, c.endless).Excuse(c.property, s); (why != nil) != c.excused {
			t.Errorf("%s: excused by: %v", name, why)
		}
		if !c.endless && !c.excused && promises.Of(s).Excuse(c.property, s) != nil {
			t.Errorf("%s: not even Redlock promises that", name)
		}
	}
}

// Law: in a store nobody comes back without what it has acknowledged, so that an outage excuses
// nothing; unless a new leader can lack changes.
func TestExternalTermsInAStore(t *testing.T) {
	crash := nemesis.Fault{Action: &nemesis.Crash{Node: 1}, End: nemesis.After(time.Millisecond)}
	for _, property := range []checker.Property{checker.Lease, checker.Section, checker.Fence} {
		for asynchronous, excused := range map[bool]bool{false: false, true: true} {
			s, err := scenarios.Find("calm")
			if err != nil {
				t.Fatal(err)
			}
			s.Store, s.Persistence = &nemesis.Store{Asynchronous: asynchronous}, nemesis.Always
			s.Plan = nemesis.Plan{crash}
			if why := promises.OfExternal(s, false).Excuse(property, s); (why != nil) != excused {
				t.Errorf("%s, asynchronous: %v: excused by: %v", property, asynchronous, why)
			}
		}
	}
}

// A holder is warned in time if the clock that the lock reads is right. That is assumed if a
// bound of notice is stated, and only for the contract.
func TestNoticeAssumesAClockThatCounts(t *testing.T) {
	client := nemesis.Machine{Client: 1}
	fault := func(a nemesis.Action) nemesis.Fault {
		return nemesis.Fault{Action: a, Start: nemesis.At(0), End: nemesis.After(time.Second)}
	}
	row := func(clock env.Clock, notice time.Duration, f nemesis.Fault) scenarios.Scenario {
		s, err := scenarios.Find("calm")
		if err != nil {
			t.Fatal(err)
		}
		s.Lock.Clock, s.Bounds.Notice, s.Plan = clock.String(), notice, nemesis.Plan{f}
		return s
	}
	suspended := fault(&nemesis.Suspend{Client: 1})
	stepped := nemesis.Fault{Action: &nemesis.ClockJump{Machine: client, By: -time.Second}, Start: nemesis.At(0)}
	for name, c := range map[string]struct {
		s        scenarios.Scenario
		promised bool
	}{
		"a clock that sleeps":              {row(env.Monotonic, 100*time.Millisecond, suspended), false},
		"one that does not":                {row(env.Boottime, 100*time.Millisecond, suspended), true},
		"without a bound":                  {row(env.Monotonic, 0, suspended), true},
		"a slow clock, inside":             {row(env.Monotonic, 100*time.Millisecond, fault(&nemesis.ClockRate{Machine: client, PPM: -6_000})), true},
		"a slow clock, outside":            {row(env.Monotonic, 100*time.Millisecond, fault(&nemesis.ClockRate{Machine: client, PPM: -7_000})), false},
		"a step of the clock that is read": {row(env.Wall, 100*time.Millisecond, stepped), false},
		"a step of another":                {row(env.Monotonic, 100*time.Millisecond, stepped), true},
		"a pause":                          {row(env.Monotonic, 100*time.Millisecond, fault(&nemesis.Pause{Client: 1})), true},
		"a node that restarts at once":     {row(env.Monotonic, 100*time.Millisecond, fault(&nemesis.Crash{Node: 1})), true},
	} {
		if excuse := promises.Of(c.s).Excuse(checker.Contract, c.s); (excuse == nil) != c.promised {
			t.Errorf("%s: promised %v, want %v (%v)", name, excuse == nil, c.promised, excuse)
		}
	}
}
