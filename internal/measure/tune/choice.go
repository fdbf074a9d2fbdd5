package tune

import (
	"cmp"
	"slices"
)

// shorter returns the first ranked setting that has an extension and a shorter TTL, if than
// has no extension.
func shorter(than Weighed, ranked []Weighed) *Weighed {
	for _, w := range ranked {
		if than.ExtendEvery == 0 && w.ExtendEvery > 0 && w.TTL < than.TTL {
			return &w
		}
	}
	return nil
}

// headroom is the share of each budget that a setting may use up: see the package comment.
type headroom struct{ availability, violations, p99 float64 }

var (
	withHeadroom = headroom{0.5, 0.5, 0.8}
	noHeadroom   = headroom{1, 1, 1}
)

// missed returns the wishes that are not met.
func (w Wanted) missed(f Figures, room headroom) (missed []string) {
	if w.Availability > 0 && 1-f.Availability > (1-w.Availability)*room.availability {
		missed = append(missed, wishAvailability)
	}
	if w.AcquireP99 > 0 && float64(f.AcquireP99) > float64(w.AcquireP99)*room.p99 {
		missed = append(missed, wishAcquire)
	}
	if w.ViolationsPerBillion != nil && f.Risk.PerBillion() > *w.ViolationsPerBillion*room.violations {
		missed = append(missed, wishViolations)
	}
	if f.Late > maxLate {
		missed = append(missed, wishHold)
	}
	return missed
}

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

// ranked returns the settings that meet all wishes, the one to recommend first.
func (w Wanted) ranked(all []Weighed) []Weighed {
	var roomy, tight []Weighed
	for _, one := range all {
		switch {
		case len(w.missed(one.Figures, withHeadroom)) == 0:
			roomy = append(roomy, one)
		case len(w.missed(one.Figures, noHeadroom)) == 0:
			tight = append(tight, one)
		}
	}
	for _, list := range [][]Weighed{roomy, tight} {
		slices.SortStableFunc(list, func(a, b Weighed) int { return preferred(a.Setting, b.Setting) })
	}
	return append(roomy, tight...)
}

// preferred compares two settings that both meet the wishes.
func preferred(a, b Setting) int {
	return cmp.Or(
		cmp.Compare(min(a.ExtendEvery, 1), min(b.ExtendEvery, 1)), // those without first
		cmp.Compare(a.TTL, b.TTL),
		cmp.Compare(b.ExtendEvery, a.ExtendEvery),
		cmp.Compare(b.RetryMax, a.RetryMax),
		cmp.Compare(a.NodeTimeout, b.NodeTimeout),
	)
}

// paretoFront returns the settings that no other setting dominates in risk, availability, p99,
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
	return a.Risk.Total() <= b.Risk.Total() && a.Availability >= b.Availability &&
		a.AcquireP99 <= b.AcquireP99 && a.RequestsPerSecond <= b.RequestsPerSecond && a.BlockedByDead <= b.BlockedByDead
}
