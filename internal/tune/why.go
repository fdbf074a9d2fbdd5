package tune

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
)

// why says why none of the settings meets the wish.
func (m *model) why(w Wanted, all []Weighed) string {
	if len(all) == 0 {
		return fmt.Sprintf("no TTL up to %v leaves any validity: clocks that may be %d ppm off, and step by %v, take all of it", m.longestTTL(), m.Clocks.RatePPM, m.Clocks.LargestStep)
	}
	var reasons []string
	for _, wish := range []string{wishHold, wishViolations, wishAvailability, wishAcquire} {
		never := !slices.ContainsFunc(all, func(one Weighed) bool {
			return !slices.Contains(w.missed(one.Figures, justSo), wish)
		})
		if never {
			reasons = append(reasons, wish+": "+m.whyNever(wish, w, all))
		}
	}
	if len(reasons) > 0 {
		return strings.Join(reasons, "; ")
	}
	closest := slices.MinFunc(all, func(a, b Weighed) int {
		return len(w.missed(a.Figures, justSo)) - len(w.missed(b.Figures, justSo))
	})
	return fmt.Sprintf("each wish can be met by itself, but not all at once: a TTL of %v misses only %s (violations per 10⁹ grants %.3g, availability %.6f, acquire p99 %v)",
		closest.TTL, strings.Join(w.missed(closest.Figures, justSo), ", "), closest.Risk.PerBillion(), closest.Availability, textfmt.Duration(closest.AcquireP99))
}

// whyNever says why no setting meets one wish.
func (m *model) whyNever(wish string, w Wanted, all []Weighed) string {
	best := func(of func(Weighed) float64) Weighed {
		return slices.MinFunc(all, func(a, b Weighed) int {
			switch {
			case of(a) < of(b):
				return -1
			case of(a) > of(b):
				return 1
			}
			return 0
		})
	}
	switch wish {
	case wishAvailability:
		b := best(func(s Weighed) float64 { return -s.Availability })
		return fmt.Sprintf("%g is wanted, so that %.2g of the time may be lost, and %.2g is the least, with a TTL of %v: what nodes that stay away for %v and dead holders take cannot be less", w.Availability, 1-w.Availability, 1-b.Availability, b.TTL, b.RestartDelay)
	case wishAcquire:
		b := best(func(s Weighed) float64 { return float64(s.AcquireP99) })
		return fmt.Sprintf("%v is wanted, and %v was the least that scouting runs came to, with retries after %v to %v", w.AcquireP99, textfmt.Duration(b.AcquireP99), b.RetryMin, b.RetryMax)
	case wishHold:
		b := best(func(s Weighed) float64 { return s.Late })
		return fmt.Sprintf("holds of up to %v, with pauses, outlive their leases too often whatever the setting: in %.2g of the cases with a TTL of %v, and TTLs longer than %v are not wanted", longest(m.Hold), b.Late, b.TTL, m.longestTTL())
	}
	b := best(func(s Weighed) float64 { return s.Risk.Total() })
	return fmt.Sprintf("%g are wanted, and %.3g is the least, with a TTL of %v%s: %s%s. %s", *w.ViolationsPerBillion, b.Risk.PerBillion(), b.TTL, extended(b.Setting), m.cause(b), m.longerAway(w, all), remedy)
}

// longerAway names a TTL that would do if nodes stayed away for long enough, where they do not.
func (m *model) longerAway(w Wanted, all []Weighed) string {
	for _, one := range all {
		if r := one.Risk; r.Restarts > 0 && 1e9*(r.Pauses+r.Extensions) <= *w.ViolationsPerBillion {
			return fmt.Sprintf("; a TTL of %v%s would do if nodes without their keys stayed away for %v, not %v",
				one.TTL, extended(one.Setting), textfmt.Duration(m.Clocks.NeededRestartDelay(one.TTL, one.Allowance())), one.RestartDelay)
		}
	}
	return ""
}

const remedy = "A resource that checks fences (fence_checked) would take no such write"

func extended(s Setting) string {
	if s.ExtendEvery == 0 {
		return ""
	}
	return fmt.Sprintf(" that is extended every %v", s.ExtendEvery)
}

// cause names what most of a risk comes from.
func (m *model) cause(w Weighed) string {
	r := w.Risk
	switch largest := max(r.Pauses, r.Extensions, r.Restarts); {
	case largest == r.Restarts:
		return fmt.Sprintf("nodes come back without their keys after %v, which is too early for any TTL that lasts for the work (this one asks for %v)",
			w.RestartDelay, m.Clocks.NeededRestartDelay(w.TTL, w.Allowance()))
	case largest == r.Extensions:
		return "extensions fail, for round trips beyond the node timeout or a majority of the nodes that is down"
	}
	if p := m.Pauses.Length; p != nil && len(p.Samples) > 0 {
		limit := "that are stated to be no longer than " + p.Max.String()
		if p.Range == (nemesis.Range{}) {
			limit = "without a stated max (pauses.length.max)"
		}
		return fmt.Sprintf("%d samples of pauses %s cannot show what is rarer than %.2g of them", len(p.Samples), limit, 3/float64(len(p.Samples)))
	}
	if m.Pauses.Bound != nil {
		return fmt.Sprintf("a hold with its pauses of up to %v does not fit", *m.Pauses.Bound)
	}
	return fmt.Sprintf("a pause or a hold is too often too long for the %v that are left for it", w.slack(time.Duration(m.hold)).Round(time.Millisecond))
}
