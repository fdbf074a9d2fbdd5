package scenarios

import (
	"fmt"
	"time"
)

// On a real machine delays rarely come alone: a process that wakes late also sends late, and the
// reply comes late, through a proxy. So two events whose order matters may
// each be late by a quarter of the time between them.
const latenessAddsUp = 4

// AllowedSlip is the largest delay of an event in a run of this scenario, beyond which the run
// decides nothing: see [Scenario.SlipLimit].
func (s Scenario) AllowedSlip() time.Duration { return s.SlipLimit().Most }

// SlipLimit is the largest delay of an event in a run, and what it follows from.
type SlipLimit struct {
	Most time.Duration
	From string // as in "a tenth of the TTL of 1s"
}

// SlipLimit returns [Scenario.SlipMargin], or if that is 0 a limit that
// follows from the times of the scenario. With leases it matters what comes before
// and what comes after the end of a TTL. So the limit is the least of
//
//   - a tenth of every time to live,
//   - a quarter of the time between the end of a piece of work, or of a fault, that began
//     with a lease and the end of that lease,
//   - a quarter of the length of a fault, because what it should affect happens meanwhile,
//   - half of the node timeout, where tries are counted: a try that fails because of the machine is
//     one too many.
func (s Scenario) SlipLimit() SlipLimit {
	if s.SlipMargin > 0 {
		return SlipLimit{s.SlipMargin, "the scenario's slip_margin"}
	}
	least := SlipLimit{s.LongestTTL(), "the longest TTL"}
	atMost := func(d time.Duration, format string, args ...any) {
		if d < least.Most {
			least = SlipLimit{d, fmt.Sprintf(format, args...)}
		}
	}
	faults := s.faultLengths()
	for _, ttl := range s.lifetimes() {
		atMost(ttl/10, "a tenth of the TTL of %v", ttl)
		for _, length := range s.workLengths() {
			if gap := (length - ttl).Abs(); gap > 0 {
				atMost(gap/latenessAddsUp, "a quarter of the %v between the end of work for %v and that of the TTL of %v", gap, length, ttl)
			}
		}
		for _, length := range faults {
			if gap := (length - ttl).Abs(); gap > 0 {
				atMost(gap/latenessAddsUp, "a quarter of the %v between the end of a fault of %v and that of the TTL of %v", gap, length, ttl)
			}
		}
	}
	for _, length := range faults {
		atMost(length/latenessAddsUp, "a quarter of the shortest fault, %v", length)
	}
	if s.Bounds.Tries > 0 {
		atMost(s.Lock.NodeTimeout/2, "half of the node timeout of %v", s.Lock.NodeTimeout)
	}
	return least
}

// String says how much is allowed and why, as in "20ms (a tenth of the TTL of 200ms)".
func (l SlipLimit) String() string { return fmt.Sprintf("%v (%s)", l.Most, l.From) }

// lifetimes are the requested times to live.
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

// workLengths are the times of work under a lease that is not extended.
func (s Scenario) workLengths() (list []time.Duration) {
	for _, c := range s.Clients {
		if c.ExtendEvery == 0 && s.Lock.Watchdog.Every == 0 {
			list = append(list, c.Work.Min, c.Work.Max)
		}
	}
	return list
}

// faultLengths are the lengths of faults that do not end at once.
func (s Scenario) faultLengths() (list []time.Duration) {
	for _, f := range s.Plan {
		if f.End != nil && f.End.After != nil && *f.End.After > 0 {
			list = append(list, *f.End.After)
		}
	}
	return list
}
