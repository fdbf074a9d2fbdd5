package tune

import (
	"cmp"
	"slices"
	"time"
)

// Weighed is a setting with its figures.
type Weighed struct {
	Setting `json:"setting"`
	Figures `json:"figures"`
}

// spared is how much of what may be lost a setting should leave: see the package comment.
type spared struct{ availability, violations, p99 float64 }

var (
	withRoom = spared{0.5, 0.5, 0.8}
	justSo   = spared{1, 1, 1}
)

// missed says which wishes are not met.
func (w Wanted) missed(f Figures, room spared) (missed []string) {
	if w.Availability > 0 && 1-f.Availability > (1-w.Availability)*room.availability {
		missed = append(missed, wishAvailability)
	}
	if w.AcquireP99 > 0 && float64(f.AcquireP99) > float64(w.AcquireP99)*room.p99 {
		missed = append(missed, wishAcquire)
	}
	if w.ViolationsPerBillion != nil && f.Risk.PerBillion() > *w.ViolationsPerBillion*room.violations {
		missed = append(missed, wishViolations)
	}
	if f.Late > mostInVain {
		missed = append(missed, wishHold)
	}
	return missed
}

// mostInVain is how many holds may outlive their lease, whatever is wished for: a lock that
// does not last for the work is none.
const mostInVain = 0.01

// The wishes, as they are called in a question.
const (
	wishHold         = "hold"
	wishAvailability = "availability"
	wishAcquire      = "acquire_p99"
	wishViolations   = "violations_per_billion"
)

// ranked are the settings that meet all wishes, the one to recommend first.
func (w Wanted) ranked(all []Weighed) []Weighed {
	var roomy, tight []Weighed
	for _, one := range all {
		switch {
		case len(w.missed(one.Figures, withRoom)) == 0:
			roomy = append(roomy, one)
		case len(w.missed(one.Figures, justSo)) == 0:
			tight = append(tight, one)
		}
	}
	for _, list := range [][]Weighed{roomy, tight} {
		slices.SortStableFunc(list, func(a, b Weighed) int { return preferred(a.Setting, b.Setting) })
	}
	return append(roomy, tight...)
}

// preferred is the order of the choice.
func preferred(a, b Setting) int {
	extends := func(s Setting) int {
		if s.ExtendEvery > 0 {
			return 1
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(extends(a), extends(b)),
		cmp.Compare(a.TTL, b.TTL),
		cmp.Compare(b.ExtendEvery, a.ExtendEvery),
		cmp.Compare(b.RetryMax, a.RetryMax),
		cmp.Compare(a.NodeTimeout, b.NodeTimeout),
	)
}

// lasting are the settings under which holds seldom outlive their leases.
func lasting(all []Weighed) (list []Weighed) {
	for _, w := range all {
		if w.Late <= mostInVain {
			list = append(list, w)
		}
	}
	return list
}

// front are the settings that no other one is better than in every way: risk, availability,
// p99, requests and how long a dead holder blocks. Of equals the first stays.
func front(all []Weighed) (list []Weighed) {
	for i, a := range all {
		beaten := slices.ContainsFunc(all[:i], func(b Weighed) bool { return atLeastAsGood(b.Figures, a.Figures) }) ||
			slices.ContainsFunc(all[i+1:], func(b Weighed) bool {
				return atLeastAsGood(b.Figures, a.Figures) && !atLeastAsGood(a.Figures, b.Figures)
			})
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

// weigh weighs all settings; scouted is the p99 of a pace, of which there are all.
func (m *model) weigh(scouted map[pace]time.Duration) (all []Weighed) {
	paces := m.paces()
	for _, timeout := range m.timeouts() {
		for _, s := range m.terms(timeout) {
			f := m.figures(s)
			for _, p := range paces {
				if p.timeout != timeout {
					continue
				}
				one := Weighed{s, f}
				one.RetryMin, one.RetryMax = p.retryMin, p.retryMax
				one.Figures.AcquireP99, one.Figures.RequestsPerSecond = scouted[p], m.requests(one.Setting)
				all = append(all, one)
			}
		}
	}
	return all
}
