package scenarios

import (
	"slices"
	"time"
)

// What comes late on a real machine is seldom late alone: who wakes late asks late, and
// the answer comes late, by way of a proxy. So things that must not change places may
// each be late by a quarter of the time between them.
const latenessAddsUp = 4

// AllowedSlip is by how much a machine may be late with what is due, in a run of this
// scenario, before the run says nothing: [Scenario.SlipMargin], or where that is 0 what
// follows from the times of the scenario. What a lease makes matter is what comes before
// the end of a time to live and what after it. So it is the least of
//
//   - a tenth of every time to live,
//   - a quarter of the time between the end of a piece of work, or of a fault, that began
//     with a lease and the end of that lease,
//   - a quarter of the length of a fault, for what it is to befall comes meanwhile,
//   - half of the node timeout, where tries are counted: a try that the machine alone has
//     spoilt is one too many.
func (s Scenario) AllowedSlip() time.Duration {
	if s.SlipMargin > 0 {
		return s.SlipMargin
	}
	least := s.LongestTTL()
	faults := s.faultLengths()
	for _, ttl := range s.lifetimes() {
		least = min(least, ttl/10)
		for _, length := range slices.Concat(s.workLengths(), faults) {
			if gap := (length - ttl).Abs(); gap > 0 {
				least = min(least, gap/latenessAddsUp)
			}
		}
	}
	for _, length := range faults {
		least = min(least, length/latenessAddsUp)
	}
	if s.Bounds.Tries > 0 {
		least = min(least, s.Lock.NodeTimeout/2)
	}
	return least
}

// lifetimes are the times to live that anybody asks for.
func (s Scenario) lifetimes() []time.Duration {
	list := []time.Duration{s.Lock.TTL}
	for _, c := range s.Clients {
		for _, ttl := range []time.Duration{c.ExtendTTL.Min, c.ExtendTTL.Max} {
			if ttl > 0 {
				list = append(list, ttl)
			}
		}
	}
	return list
}

// workLengths are how long work takes under a lease that nobody extends.
func (s Scenario) workLengths() (list []time.Duration) {
	for _, c := range s.Clients {
		if c.ExtendEvery == 0 && s.Lock.Watchdog.Every == 0 {
			list = append(list, c.Work.Min, c.Work.Max)
		}
	}
	return list
}

// faultLengths are how long faults last that do not end at once.
func (s Scenario) faultLengths() (list []time.Duration) {
	for _, f := range s.Plan {
		if f.End != nil && f.End.After != nil && *f.End.After > 0 {
			list = append(list, *f.End.After)
		}
	}
	return list
}
