package hunt

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// boundaries are the limits in a scenario: of assumptions, or times that the lock uses.
// Defects at a limit show only close to it, and independent draws seldom come that close.
type boundaries struct {
	scenario    scenarios.Scenario // without its plan
	assumptions []promises.Assumptions
	times       []time.Duration // that the lock uses
}

// boundariesOf returns those of a scenario: of the assumptions of some terms or, if they have none, of
// what its lock promises.
func boundariesOf(s scenarios.Scenario, terms promises.Terms) boundaries {
	e := boundaries{scenario: s, times: lockTimes(s), assumptions: terms.Restricting()}
	if len(e.assumptions) == 0 {
		e.assumptions = promises.Of(s).Restricting()
	}
	return e
}

// lockTimes returns the times that a lock uses, and those minus a round trip: how much later a
// reply has to be to exceed them.
func lockTimes(s scenarios.Scenario) (times []time.Duration) {
	l, trip := s.Lock, promises.RoundTrip(s)
	all := []time.Duration{
		l.TTL, promises.Validity(l), promises.Validity(l) - l.Margin, s.LongestTTL(), l.Quarantine,
		l.NodeTimeout, l.NodeTimeout - trip, l.Linger, l.Linger - trip, l.Margin,
		l.Watchdog.Every, l.Heartbeat, l.Grace, l.LockDelay,
	}
	for _, t := range all {
		if t = t.Truncate(time.Microsecond); t > 0 && !slices.Contains(times, t) {
			times = append(times, t)
		}
	}
	return times
}

// value is a value of a fault.
type value struct {
	name string
	at   any // a pointer to it
}

func valuesOf(f *nemesis.Fault) (all []value) {
	f.EachValue(func(name string, at any) { all = append(all, value{name, at}) })
	return all
}

// hasLimit reports whether an assumption limits some value of the fault.
func (e boundaries) hasLimit(f nemesis.Fault) bool {
	for _, v := range valuesOf(&f) {
		for _, a := range e.assumptions {
			if _, _, ok := a.Boundary(e.scenario, &f, v.at); ok {
				return true
			}
		}
	}
	return false
}

// moveTo returns the fault with one value moved to a limit, compatible with the faults of a
// setting, or the fault itself.
func (e boundaries) moveTo(d rng, f nemesis.Fault, beside nemesis.Setting) nemesis.Fault {
	near := nemesis.Plan{f}.Clone()[0]
	var limited, timed []func()
	for _, v := range valuesOf(&near) {
		to := e.limitMove(d, &near, v.at, beside.Plan)
		if to != nil {
			limited = append(limited, to)
		} else if at, ok := v.at.(*time.Duration); ok && *at > 0 && len(e.times) > 0 && v.name != "at" {
			timed = append(timed, func() { *at = time.Duration(d.near(int64(pick(d, e.times...)), int64(time.Microsecond))) })
		}
	}
	switch {
	case len(limited) > 0 && (len(timed) == 0 || d.chance(75)):
		pick(d, limited...)()
	case len(timed) > 0:
		pick(d, timed...)()
	}
	return orElse(near, f, beside)
}

// limitMove returns a function that moves a value of a fault to the limit of an assumption, or
// nil if none limits it.
func (e boundaries) limitMove(d rng, f *nemesis.Fault, value any, plan nemesis.Plan) func() {
	s := e.scenario
	s.Plan = plan
	for _, i := range d.Perm(len(e.assumptions)) {
		inside, outside, ok := e.assumptions[i].Boundary(s, f, value)
		if !ok {
			continue
		}
		switch at := value.(type) {
		case *int64:
			return func() { *at = d.nearLimit(inside, outside, 1) }
		case *time.Duration:
			return func() { *at = time.Duration(d.nearLimit(inside, outside, int64(time.Microsecond))) }
		}
	}
	return nil
}

// nearLimit draws the last value inside or, less often, a smaller one, the first outside, or a
// larger one.
func (d rng) nearLimit(inside, outside, unit int64) int64 {
	away := (outside - inside) / unit * max(d.Int64N(max(inside/64, -inside/64, unit)+1), unit)
	switch k := d.IntN(10); {
	case k < 5:
		return inside
	case k < 8:
		return inside - away/unit*unit
	case k < 9:
		return outside
	}
	return outside + away/unit*unit
}

// near draws a time or, less often, a slightly smaller or larger one.
func (d rng) near(at, unit int64) int64 {
	away := max(d.Int64N(at/64+1), unit) / unit * unit
	return at + pick(d, 0, 0, -unit, unit, -away, away)
}
