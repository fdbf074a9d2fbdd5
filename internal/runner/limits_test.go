package runner_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// measuredRuns returns the tally of runs with these times to acquire and outages, each within a
// second in which the resource is wanted.
func measuredRuns(limits scenarios.Limits, runs int, draw func() (acquire, outage time.Duration)) runner.Tally {
	t := runner.NewTally(scenarios.Scenario{Limits: limits})
	for range runs {
		acquire, outage := draw()
		var r runner.Result
		r.Report.Measurements = checker.Measurements{
			Acquiring: checker.Acquiring{AcquireP99: acquire, AcquireMax: acquire},
			Outages:   checker.Outages{LongestOutage: outage, TotalOutage: outage, Wanted: time.Second},
		}
		for _, p := range checker.Properties() {
			r.Report.Findings = append(r.Report.Findings, checker.Finding{Property: p, Verdict: checker.Holds})
		}
		t.Add(r)
	}
	return t
}

// A limit holds, is violated, or is left open if it lies within the interval. The most of all
// runs has no interval, and neither have few runs.
func TestLimits(t *testing.T) {
	ms := time.Millisecond
	steps := func() func() (time.Duration, time.Duration) { // 1ms to 20ms
		n := 0
		return func() (time.Duration, time.Duration) {
			n = n%20 + 1
			return time.Duration(n) * ms, time.Duration(n) * ms
		}
	}
	acquire := func(lowest, highest time.Duration) scenarios.Limits {
		return scenarios.Limits{AcquireP99: &scenarios.TimeLimit{Min: lowest, Max: highest}}
	}
	outage := func(highest time.Duration) scenarios.Limits {
		return scenarios.Limits{LongestOutage: &scenarios.TimeLimit{Max: highest}}
	}
	available := func(least float64) scenarios.Limits {
		return scenarios.Limits{Availability: &scenarios.ShareLimit{Min: least}}
	}
	const holds, violated, open = checker.Holds, checker.Violated, checker.Unknown
	for name, c := range map[string]struct {
		limits   scenarios.Limits
		runs     int
		interval bool
		want     checker.Verdict
	}{
		"median below":           {acquire(0, 16*ms), 20, true, holds},
		"median above":           {acquire(0, 5*ms), 20, true, violated},
		"median near":            {acquire(0, 11*ms), 20, true, open},
		"median near, above":     {acquire(0, 9*ms), 20, true, open},
		"median, too small":      {acquire(16*ms, 0), 20, true, violated},
		"median, within":         {acquire(5*ms, 16*ms), 20, true, holds},
		"median of five":         {acquire(0, 3*ms), 5, false, holds},
		"median of five, above":  {acquire(0, 2*ms), 5, false, violated},
		"the most":               {outage(20 * ms), 20, false, holds},
		"the most, above":        {outage(19 * ms), 20, false, violated},
		"availability":           {available(0.98), 20, true, holds},
		"availability, below":    {available(0.995), 20, true, violated},
		"availability, near":     {available(0.99), 20, true, open},
		"availability of a run":  {available(0.999), 1, false, holds},
		"availability, two runs": {available(0.9999), 2, false, violated},
	} {
		tally := measuredRuns(c.limits, c.runs, steps())
		got := tally.Limits()
		if len(got) != 1 || got[0].Verdict() != c.want || got[0].Interval != c.interval {
			t.Errorf("%s: %v, %+v", name, got[0].Verdict(), got)
		}
		conclusion := map[checker.Verdict]runner.Conclusion{holds: runner.AsExpected, violated: runner.Contradiction, open: runner.Undecided}[c.want]
		if tally.Conclusion() != conclusion {
			t.Errorf("%s: %v, want %v", name, tally.Conclusion(), conclusion)
		}
	}
	if none := measuredRuns(acquire(0, ms), 0, steps()).Limits(); len(none) > 0 {
		t.Errorf("of no run: %+v", none)
	}
}
