package fuzz_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: of a lock of which nothing is known no more is asked than of Redlock, and in these
// plans as much: but that no clock is wrong, and that who tells no end of validity need not
// look at a clock.
func TestWhatIsAskedOfForeignLocks(t *testing.T) {
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
		"pause, L1":             {pause, false, checker.DeadlockFreedom, false},
		"back soon, V1":         {nemesis.Fault{Action: &nemesis.Crash{Node: 1}, End: after(time.Millisecond)}, false, checker.Lease, true},
		"back late, V1":         {nemesis.Fault{Action: &nemesis.Crash{Node: 1}, End: after(time.Hour)}, false, checker.Lease, false},
		"back late, V4":         {nemesis.Fault{Action: &nemesis.Crash{Node: 1}, End: after(time.Hour)}, false, checker.Fence, true},
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
		if why := fuzz.ExternalTerms(s, c.endless).Excuse(c.property, s); (why != nil) != c.excused {
			t.Errorf("%s: excused by: %v", name, why)
		}
		if !c.endless && !c.excused && fuzz.PromisedTerms(s).Excuse(c.property, s) != nil {
			t.Errorf("%s: not even Redlock promises that", name)
		}
	}
}
