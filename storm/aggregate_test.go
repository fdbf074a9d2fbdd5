package storm_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/storm"
)

func TestAggregate(t *testing.T) {
	var a storm.Aggregate
	if m := a.All(); m != (checker.Measurements{Availability: 1}) || a.MedianOutage() != 0 || a.MedianRounds() != 0 {
		t.Errorf("of no run: %+v, %v, %d", m, a.MedianOutage(), a.MedianRounds())
	}
	for i, outage := range []time.Duration{9, 1, 5, 3} {
		a.Add(checker.Measurements{
			Tries: 3, Grants: i, Requests: 10, Woken: 2, Herd: i, SplitRounds: 1, RoundsToFirstGrant: 4 - i,
			AcquireP50: outage, AcquireMax: outage, LongestOutage: outage, TotalOutage: outage, Wanted: 2 * outage,
			Availability: 0.5, HolderDeaths: 2, GrantsAfterDeath: 1, NextGrantAfterDeath: outage, LongestWait: outage, MostPassedOver: i,
			OrphanKeys: 1, StaleApplies: 1, Faults: 1, Rejected: 2, WronglyRejected: 1,
		})
	}
	want := checker.Measurements{
		Tries: 12, Grants: 6, Requests: 40, Woken: 8, Herd: 3, SplitRounds: 4, RoundsToFirstGrant: 4,
		AcquireP50: 3, AcquireMax: 9, LongestOutage: 9, TotalOutage: 18, Wanted: 36,
		Availability: 0.5, HolderDeaths: 8, GrantsAfterDeath: 4, NextGrantAfterDeath: 9, LongestWait: 9, MostPassedOver: 3,
		OrphanKeys: 4, StaleApplies: 4, Faults: 4, Rejected: 8, WronglyRejected: 4,
	}
	if got := a.All(); got != want || a.Runs() != 4 {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if a.MedianOutage() != 3 || a.MedianRounds() != 2 {
		t.Errorf("medians %v and %d, want 3ns and, of the runs with a grant, 2", a.MedianOutage(), a.MedianRounds())
	}
}
