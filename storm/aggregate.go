package storm

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
)

// Aggregate is the measurements of many runs together. The zero value is those of
// none.
type Aggregate struct {
	runs int
	all  checker.Measurements

	p50, p99, p999, outages samples[time.Duration]
	rounds                  samples[int]
}

// Recall returns an aggregate that answers what is stored of one: the number of its
// runs, and what All, MedianOutage and MedianRounds returned.
func Recall(runs int, all checker.Measurements, outage time.Duration, rounds int) Aggregate {
	return Aggregate{
		runs: runs, all: all,
		p50: samples[time.Duration]{all.AcquireP50}, p99: samples[time.Duration]{all.AcquireP99}, p999: samples[time.Duration]{all.AcquireP999},
		outages: samples[time.Duration]{outage}, rounds: samples[int]{rounds},
	}
}

// Runs returns the number of runs.
func (a *Aggregate) Runs() int { return a.runs }

// All returns the measurements as of one long history: what is counted is added up,
// and so are total times; what is the longest or the most of one run is that of
// all; the availability is that of all the time in which somebody wanted a
// resource. The quantiles of acquire are the medians of the quantiles of those
// runs that had a grant.
func (a *Aggregate) All() checker.Measurements {
	m := a.all
	m.AcquireP50, m.AcquireP99, m.AcquireP999 = a.p50.median(), a.p99.median(), a.p999.median()
	m.Availability = 1
	if m.Wanted > 0 {
		m.Availability = 1 - float64(m.TotalOutage)/float64(m.Wanted)
	}
	return m
}

// MedianOutage returns the median of the runs' longest outages.
func (a *Aggregate) MedianOutage() time.Duration { return a.outages.median() }

// MedianRounds returns the median of the rounds to the first grant, of the runs
// that had one; 0 of none.
func (a *Aggregate) MedianRounds() int { return a.rounds.median() }

// Add adds the measurements of one run.
func (a *Aggregate) Add(m checker.Measurements) {
	a.runs++
	a.count(m)
	a.maximise(m)
	a.outages.add(m.LongestOutage)
	if m.Grants > 0 {
		a.p50.add(m.AcquireP50)
		a.p99.add(m.AcquireP99)
		a.p999.add(m.AcquireP999)
		a.rounds.add(m.RoundsToFirstGrant)
	}
}

// count adds up what is counted, and total times.
func (a *Aggregate) count(m checker.Measurements) {
	t := &a.all
	t.Tries += m.Tries
	t.Grants += m.Grants
	t.Requests += m.Requests
	t.TotalOutage += m.TotalOutage
	t.Wanted += m.Wanted
	t.HolderDeaths += m.HolderDeaths
	t.GrantsAfterDeath += m.GrantsAfterDeath
	t.SplitRounds += m.SplitRounds
	t.Woken += m.Woken
	t.OrphanKeys += m.OrphanKeys
	t.StaleApplies += m.StaleApplies
	t.Faults += m.Faults
	t.Rejected += m.Rejected
	t.WronglyRejected += m.WronglyRejected
}

// maximise keeps the largest of what is the most of a run.
func (a *Aggregate) maximise(m checker.Measurements) {
	t := &a.all
	t.AcquireMax = max(t.AcquireMax, m.AcquireMax)
	t.LongestOutage = max(t.LongestOutage, m.LongestOutage)
	t.NextGrantAfterDeath = max(t.NextGrantAfterDeath, m.NextGrantAfterDeath)
	t.LongestWait = max(t.LongestWait, m.LongestWait)
	t.MostPassedOver = max(t.MostPassedOver, m.MostPassedOver)
	t.RoundsToFirstGrant = max(t.RoundsToFirstGrant, m.RoundsToFirstGrant)
	t.Herd = max(t.Herd, m.Herd)
}

// samples are values whose median is asked for.
type samples[T ~int | ~int64] []T

func (s *samples[T]) add(v T) { *s = append(*s, v) }

// median returns the lower of the two in the middle if there are two; 0 of none.
func (s samples[T]) median() T {
	if len(s) == 0 {
		return 0
	}
	slices.Sort(s)
	return s[(len(s)-1)/2]
}
