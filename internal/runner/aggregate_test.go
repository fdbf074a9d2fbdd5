package runner_test

import (
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
	if a := runner.Recall(4, want); a.All() != want || a.Runs() != 4 {
		t.Errorf("recalled: %+v", a.All())
	}
}
