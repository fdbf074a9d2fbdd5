package tune

import (
	"cmp"
	"slices"
)

// headroom is the share of each budget that a setting may use up: see the package comment.
type headroom struct{ availability, violations, p99 float64 }

var withHeadroom, noHeadroom = headroom{0.5, 0.5, 0.8}, headroom{1, 1, 1}

// maxLate is the share of holds that may outlive their lease, whatever is wanted. A lock with
// more is useless for the work.
const maxLate = 0.01

// The names of the wishes, as in a question.
const (
	wishHold         = "hold"
	wishAvailability = "availability"
	wishAcquire      = "acquire_p99"
	wishViolations   = "violations_per_billion"
)

// missed returns the wishes that are not met.
func (w Wanted) missed(f Figures, room headroom) (missed []string) {
	if w.Availability > 0 && 1-f.Availability > (1-w.Availability)*room.availability {
		missed = append(missed, wishAvailability)
	}
	if w.AcquireP99 > 0 && float64(f.AcquireP99) > float64(w.AcquireP99)*room.p99 {
		missed = append(missed, wishAcquire)
	}
	if w.ViolationsPerBillion != nil && f.PerBillion() > *w.ViolationsPerBillion*room.violations {
		missed = append(missed, wishViolations)
	}
	if f.Late > maxLate {
		missed = append(missed, wishHold)
	}
	return missed
}

// ranked returns the settings that meet all wishes, the one to recommend first: see the package comment.
func (w Wanted) ranked(all []Weighed) (list []Weighed) {
	for _, one := range all {
		if len(w.missed(one.Figures, noHeadroom)) == 0 {
			list = append(list, one)
		}
	}
	slices.SortStableFunc(list, func(a, b Weighed) int {
		return cmp.Or(
			cmp.Compare(min(len(w.missed(a.Figures, withHeadroom)), 1), min(len(w.missed(b.Figures, withHeadroom)), 1)),
			cmp.Compare(min(a.ExtendEvery, 1), min(b.ExtendEvery, 1)), // those without first
			cmp.Compare(a.TTL, b.TTL),
			cmp.Compare(b.ExtendEvery, a.ExtendEvery),
			cmp.Compare(b.RetryMax, a.RetryMax),
			cmp.Compare(a.NodeTimeout, b.NodeTimeout),
		)
	})
	return list
}

// paretoFront returns the settings that no other setting dominates in violations, availability, p99,
// requests and the time that a dead holder blocks. Of equal settings the first is kept.
func paretoFront(all []Weighed) (list []Weighed) {
	for i, a := range all {
		beaten := false
		for j, b := range all {
			beaten = beaten || j != i && atLeastAsGood(b.Figures, a.Figures) && (j < i || !atLeastAsGood(a.Figures, b.Figures))
		}
		if !beaten {
			list = append(list, a)
		}
	}
	return list
}

func atLeastAsGood(a, b Figures) bool {
	return a.Violations <= b.Violations && a.Availability >= b.Availability &&
		a.AcquireP99 <= b.AcquireP99 && a.RequestsPerSecond <= b.RequestsPerSecond && a.BlockedByDead <= b.BlockedByDead
}
