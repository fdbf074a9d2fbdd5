package fuzz_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// A holder is told in time where the clock that the lock reads counts the time: that is
// assumed where a bound of notice is stated, and for the contract alone.
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
		if excuse := fuzz.PromisedTerms(c.s).Excuse(checker.Contract, c.s); (excuse == nil) != c.promised {
			t.Errorf("%s: promised %v, want %v (%v)", name, excuse == nil, c.promised, excuse)
		}
	}
}
