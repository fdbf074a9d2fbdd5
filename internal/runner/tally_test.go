package runner_test

import (
	"math"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
)

func TestAggregate(t *testing.T) {
	var a runner.Aggregate
	if m := a.All(); m != (checker.Measurements{Outages: checker.Outages{Availability: 1}}) {
		t.Errorf("of no run: %+v", m)
	}
	for i, outage := range []time.Duration{9, 1, 5, 3} {
		one := checker.Measurements{
			Work:    checker.Work{Tries: 3, Grants: i, Requests: 10},
			Outages: checker.Outages{LongestOutage: outage, TotalOutage: outage, Wanted: 2 * outage, Availability: 0.5},
			Deaths:  checker.Deaths{HolderDeaths: 2, GrantsAfterDeath: 1, NextGrantAfterDeath: outage},
			Waits:   checker.Waits{LongestWait: outage, MostPassedOver: i},
			Queues:  checker.Queues{Woken: 2, Herd: i},
		}
		if i > 0 {
			one.Acquiring = checker.Acquiring{AcquireP50: outage, AcquireMax: outage}
			one.Rounds = checker.Rounds{SplitRounds: 1, RoundsToFirstGrant: 4 - i}
		}
		a.Add(one)
	}
	want := checker.Measurements{
		Work:      checker.Work{Tries: 12, Grants: 6, Requests: 40},
		Acquiring: checker.Acquiring{AcquireP50: 3, AcquireMax: 5},
		Outages:   checker.Outages{LongestOutage: 9, TotalOutage: 18, MedianOutage: 3, Wanted: 36, Availability: 0.5},
		Deaths:    checker.Deaths{HolderDeaths: 8, GrantsAfterDeath: 4, NextGrantAfterDeath: 9},
		Waits:     checker.Waits{LongestWait: 9, MostPassedOver: 3},
		Rounds:    checker.Rounds{SplitRounds: 3, RoundsToFirstGrant: 3, MedianRounds: 2},
		Queues:    checker.Queues{Woken: 8, Herd: 3},
	}
	if got := a.All(); got != want || a.Runs() != 4 {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if a := runner.StoredAggregate(4, want); a.All() != want || a.Runs() != 4 {
		t.Errorf("recalled: %+v", a.All())
	}
}

// Law: the measurements of some runs are those of two parts of them, joined.
func TestJoinedAggregates(t *testing.T) {
	var whole, joined runner.Aggregate
	var parts [2]runner.Aggregate
	for i := range 20 {
		m := checker.Measurements{
			Work:      checker.Work{Tries: i},
			Acquiring: checker.Acquiring{AcquireP50: time.Duration(i * 7 % 5), AcquireMax: time.Duration(i)},
			Outages:   checker.Outages{LongestOutage: time.Duration(i * 3 % 7), TotalOutage: 9, Wanted: 30},
		}
		whole.Add(m)
		parts[i/13].Add(m)
	}
	for _, p := range parts {
		joined.Join(p.Runs(), p.Columns())
	}
	if joined.All() != whole.All() || joined.Runs() != whole.Runs() {
		t.Errorf("joined: %+v\nwhole: %+v", joined.All(), whole.All())
	}
}

// The first four are method 3 in table I of Newcombe, Two-sided confidence
// intervals for the single proportion, Statistics in Medicine 17, 1998.
func TestWilsonKnownValues(t *testing.T) {
	cases := []struct {
		rate   runner.Rate
		lo, hi float64
	}{
		{runner.Rate{K: 81, N: 263}, 0.2553, 0.3662},
		{runner.Rate{K: 15, N: 148}, 0.0624, 0.1605},
		{runner.Rate{K: 0, N: 20}, 0, 0.1611},
		{runner.Rate{K: 1, N: 29}, 0.0061, 0.1718},
		{runner.Rate{K: 100, N: 100}, 0.9630, 1},
		{runner.Rate{}, 0, 1},
	}
	for _, c := range cases {
		lo, hi := c.rate.Wilson()
		if math.Abs(lo-c.lo) > 5e-5 || math.Abs(hi-c.hi) > 5e-5 {
			t.Errorf("%v: got [%.4f, %.4f], want [%.4f, %.4f]", c.rate, lo, hi, c.lo, c.hi)
		}
	}
}
