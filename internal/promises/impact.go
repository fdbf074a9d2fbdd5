package promises

import (
	"fmt"
	"math"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// clockError bounds what the faults of a plan can do to the clocks of one machine, if all are
// active at once.
type clockError struct {
	fast, slow int64         // ppm; the two do not cancel, since they may come at different times
	step       time.Duration // of the wall clock, in either direction
}

type clockErrors map[nemesis.Machine]clockError

// stopped is the rate error of a stopped clock.
const stopped = 1_000_000

// add adds the effect of a fault. A healing by a step sets the clock back to where it would
// be, so no further than the fault has taken it. The effect of a rate is a step only then.
func (t clockErrors) add(f *nemesis.Fault, s scenarios.Scenario) {
	e := effects(f.Action, s).Clock
	m, off := e.Machine, e.PPM
	if m == (nemesis.Machine{}) {
		return
	}
	t.addStep(m, e.Step)
	t.addRate(m, e.PPM)
	if e.Misses {
		t.addStep(m, min(maxDuration(f), nemesis.MaxDuration-e.Step.Abs()))
	}
	if e.Stops.Has(env.Wall) {
		if off = -stopped; !e.Suspends && (m.Client == 0 || readsWall(s.Lock)) {
			t.addRate(m, off)
		}
	}
	t.addHealing(f, m, e.Healing, -int64(e.Step)-off, off)
}

// effects returns what an action does in the world of a scenario, whose setting is that of the world.
func effects(a nemesis.Action, s scenarios.Scenario) nemesis.Effects { return a.Effects(s.Setting) }

// readsWall reports whether a lock reads the wall clock, for its validity or for its tokens.
func readsWall(l scenarios.Lock) bool { return l.ReadsClock() == env.Wall || l.Tokens == "time" }

// addHealing adds the healing of a fault: the clock is set forward if way is positive, and was
// wrong by ppm while the fault lasted.
func (t clockErrors) addHealing(f *nemesis.Fault, m nemesis.Machine, h nemesis.Healing, way, ppm int64) {
	switch h.Heal {
	case nemesis.HealSlew:
		t.addRate(m, signed(h.SlewPPM(), way))
	case nemesis.HealStep:
		t.addStep(m, scaled(maxDuration(f), ppm))
	}
}

func (t clockErrors) addRate(m nemesis.Machine, ppm int64) {
	now := t[m]
	now.fast, now.slow = now.fast+max(ppm, 0), now.slow+max(-ppm, 0)
	t[m] = now
}

func (t clockErrors) addStep(m nemesis.Machine, by time.Duration) {
	now := t[m]
	if by = max(by, -by); now.step > math.MaxInt64-by {
		by = math.MaxInt64 - now.step
	}
	now.step += by
	t[m] = now
}

// signed gives a size the sign of another number.
func signed(size, as int64) int64 {
	if as < 0 {
		return -size
	}
	return size
}

// scaled returns how far a clock with an error of ppm is off after a time, rounded up.
func scaled(d time.Duration, ppm int64) time.Duration {
	return time.Duration(math.Ceil(float64(d) / 1e6 * float64(max(ppm, -ppm))))
}

// knownDuration returns how long a fault lasts, if that is known before the run.
func knownDuration(f *nemesis.Fault) (time.Duration, bool) {
	switch end := f.Ends(); {
	case end == nil:
		return 0, false
	case end.After != nil:
		return *end.After, true
	case end.Client == 0 && f.Start.Client == 0:
		return end.At - f.Start.At, true
	}
	return 0, false
}

// maxDuration returns how long a fault lasts at most.
func maxDuration(f *nemesis.Fault) time.Duration {
	if d, known := knownDuration(f); known {
		return d
	}
	return nemesis.MaxDuration
}

// checkClocks returns an error if the clocks of the machine that a fault affects exceed their
// bounds.
func (a Assumptions) checkClocks(t clockErrors, f *nemesis.Fault) error {
	m := f.Action.Effects(nemesis.Setting{}).Clock.Machine
	if m == (nemesis.Machine{}) {
		return nil
	}
	step, name := a.ClientClockStep, "client_clock_step"
	if m.Client == 0 {
		step, name = a.NodeClockStep, "node_clock_step"
	}
	switch now := t[m]; {
	case a.ClockRatePPM != nil && max(now.fast, now.slow) > *a.ClockRatePPM:
		return fmt.Errorf("the clocks of %v can be wrong by %d ppm, more than %d (clock_rate_ppm)", m, max(now.fast, now.slow), *a.ClockRatePPM)
	case step != nil && now.step > *step:
		return fmt.Errorf("steps can move the wall clock of %v by %v, more than %v (%s)", m, now.step, *step, name)
	}
	return nil
}

// checkClockRuns returns an error if the clock that the lock reads stops and that is excluded.
func (a Assumptions) checkClockRuns(action nemesis.Action, s scenarios.Scenario) error {
	e := effects(action, s).Clock
	if clock := s.Lock.ReadsClock(); a.ClockGoesOn && e.Suspends && e.Stops.Has(clock) {
		return fmt.Errorf("%s stops the clock that the lock reads (%v), against the assumption clock_goes_on", action.Kind(), clock)
	}
	return nil
}

// checkRestart returns an error if a node returns too early without something.
func (a Assumptions) checkRestart(f *nemesis.Fault, s scenarios.Scenario, clocks clockErrors) error {
	o := effects(f.Action, s).Outage
	if !o.Loses || a.RestartDelay == 0 && !a.NothingForgotten {
		return nil
	}
	least, back := away(o, f, clocks[nemesis.Machine{Node: o.Node}])
	switch {
	case !back:
		return nil
	case a.NothingForgotten:
		return fmt.Errorf("node %d returns without something that it had acknowledged, against the assumption nothing_forgotten", o.Node)
	case least < a.RestartDelay:
		return fmt.Errorf("node %d can return after %v without something that it had acknowledged, sooner than %v (restart_delay)", o.Node, least, a.RestartDelay)
	}
	return nil
}

// away returns how long the node stays away at least, and whether it returns.
func away(o nemesis.Outage, f *nemesis.Fault, clock clockError) (least time.Duration, back bool) {
	if o.RestartDelay > 0 {
		left := max(o.RestartDelay-clock.step, 0)
		return time.Duration(float64(left) / (1 + float64(clock.fast)/1e6)), true
	}
	if f.End == nil {
		return 0, false
	}
	least, _ = knownDuration(f)
	return least, true
}

// checkAway returns an error if too many nodes are away when some fault begins, with the fault
// of that number. A fault that begins or ends at a step may be active at any time.
func (a Assumptions) checkAway(s scenarios.Scenario, number int) error {
	if a.Away == nil || effects(s.Plan[number].Action, s).Away.Len() == 0 {
		return nil
	}
	for i := range s.Plan[:number+1] {
		var gone env.NodeSet
		from, _ := period(&s.Plan[i])
		for j := range s.Plan[:number+1] {
			if start, end := period(&s.Plan[j]); start <= from && from <= end {
				gone |= effects(s.Plan[j].Action, s).Away
			}
		}
		if gone.Len() > *a.Away {
			return fmt.Errorf("nodes %v can be away at a time, more than %d (away)", gone.List(), *a.Away)
		}
	}
	return nil
}

// period returns from when to when a fault can be active, as far as that is known.
func period(f *nemesis.Fault) (from, to time.Duration) {
	if f.Start.Client != 0 {
		return 0, nemesis.MaxDuration
	}
	d, known := knownDuration(f)
	if !known {
		return f.Start.At, nemesis.MaxDuration
	}
	return f.Start.At, f.Start.At + d
}
