package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
)

func TestMeasurementsAreShort(t *testing.T) {
	var a runner.Aggregate
	a.Add(checker.Measurements{Work: checker.Work{Tries: 2}})
	var b strings.Builder
	printMeasured(&b, &a)
	want(t, "of a run without a grant", b.String(), "\ngrants  0 in 2 tries\n")

	a.Add(checker.Measurements{
		Work:         checker.Work{Tries: 8, Grants: 4, Requests: 50},
		Acquiring:    checker.Acquiring{AcquireP50: 1234567, AcquireP99: 2 * time.Millisecond, AcquireP999: 2 * time.Millisecond, AcquireMax: 2 * time.Millisecond},
		Outages:      checker.Outages{Wanted: time.Second, TotalOutage: 250 * time.Millisecond, LongestOutage: 200 * time.Millisecond},
		Deaths:       checker.Deaths{HolderDeaths: 3, GrantsAfterDeath: 1, NextGrantAfterDeath: 1500 * time.Millisecond},
		Waits:        checker.Waits{LongestWait: time.Second, MostPassedOver: 2},
		Rounds:       checker.Rounds{SplitRounds: 2, RoundsToFirstGrant: 3},
		Queues:       checker.Queues{Woken: 4, Herd: 2},
		Orphans:      checker.Orphans{OrphanKeys: 1},
		StaleWrites:  checker.StaleWrites{StaleApplies: 2},
		UpdateLosses: checker.UpdateLosses{Updates: 9, LostUpdates: 2},
		GrantLosses:  checker.GrantLosses{StoredGrants: 7, ForgottenGrants: 1},
		Rejections:   checker.Rejections{Rejected: 3, WronglyRejected: 1},
	})
	b.Reset()
	printMeasured(&b, &a)
	want(t, "of two runs", b.String(), `
grants           4 in 10 tries, 2.5 tries a grant, 12.5 requests a grant
time to acquire  p50 1.23ms, p99 2ms, p99.9 2ms, longest 2ms
availability     75.00 %, longest outage 200ms (median of runs 0s)
longest wait     1s, passed over by up to 2 grants
holder's death   1 of 3 followed by a grant, within 1.5s
split votes      2, first grant with try 3 at the latest, median of runs 3
woken            4 times, at most 2 clients between two grants
lost updates     2 of 9
forgotten        1 of 7 grants
also             1 orphan key, 2 stale writes, 3 rejected accesses, 1 wrongly rejected access
`)
}
