package fuzz

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// ExternalTerms returns what can be asked of a lock of which no more is known than that nodes keep
// it for a time to live: what Redlock promises, but that no clock is wrong, for nobody knows
// what such a lock sets aside for that. endless says that it tells no end of validity: to
// rely on its grants is then to rely on no clock.
func ExternalTerms(s scenarios.Scenario, endless bool) Terms {
	excludes := lease(s)
	excludes.ClockRatePPM = new(int64(0))
	careless := unpaused(excludes)
	updates := careless
	updates.Without = append(slices.Clip(updates.Without), nemesis.Kind("guard-latency"))
	t := Terms{
		checker.Lease:           excludes,
		checker.Section:         careless,
		checker.Effect:          updates,
		checker.Fence:           unforgotten(excludes),
		checker.DeadlockFreedom: sentOnce(Assumptions{FaultsEnd: true}),
		checker.FaultTolerance:  sentOnce(Assumptions{}),
		checker.Cleanup:         sentOnce(Assumptions{}),
		checker.Contract:        sentOnce(Assumptions{}),
	}
	if s.Bounds.Notice > 0 {
		t[checker.Contract] = sentOnce(Assumptions{ClockRatePPM: new(int64(0)), ClockGoesOn: true})
	}
	if endless {
		t[checker.Lease] = careless
	}
	if a, ok := effects(s, t); ok {
		t[checker.Effect] = a
	}
	return t
}
