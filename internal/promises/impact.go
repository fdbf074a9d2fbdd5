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
	m := nemesis.ClockMachine(f.Action)
	if m == (nemesis.Machine{}) {
		return
	}
	switch a := f.Action.(type) {
	case *nemesis.ClockJump:
		t.addStep(m, a.By)
		t.addHealing(f, m, a.Healing, -int64(a.By), 0)
	case *nemesis.ClockStrobe:
		t.addStep(m, a.By)
	case *nemesis.ClockRate:
		t.addRate(m, a.PPM)
		t.addHealing(f, m, a.Healing, -a.PPM, a.PPM)
	case *nemesis.ClockSlew:
		t.addRate(m, signed(a.PPM, int64(a.By)))
	case *nemesis.ClockFreeze:
		if a.Client == 0 || readsWall(s.Lock) {
			t.addRate(m, -stopped)
		}
		t.addHealing(f, m, a.Healing, 1, stopped)
	case *nemesis.VMRestore:
		t.addStep(m, min(a.Age+maxDuration(f), nemesis.MaxDuration))
	case *nemesis.Snapshot:
		t.addHealing(f, m, a.Healing, 1, stopped)
	}
}

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
	switch {
	case f.End == nil:
		return 0, false
	case f.End.After != nil:
		return *f.End.After, true
	case f.End.Client == 0 && f.Start.Client == 0:
		return f.End.At - f.Start.At, true
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
	m := nemesis.ClockMachine(f.Action)
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
	_, suspended := action.(*nemesis.Suspend)
	_, restored := action.(*nemesis.Snapshot)
	if clock := s.Lock.ReadsClock(); a.ClockGoesOn && (restored || suspended && clock == env.Monotonic) {
		return fmt.Errorf("%s stops the clock that the lock reads (%v), which is excluded (clock_goes_on)", action.Kind(), clock)
	}
	return nil
}

// outage is a fault that takes a node's server down.
type outage struct {
	node    int
	loses   bool          // loses something that it had acknowledged
	restart time.Duration // by its own wall clock; 0: at the end of the fault
}

func outageOf(action nemesis.Action, p nemesis.Persistence) (o outage, ok bool) {
	switch a := action.(type) {
	case *nemesis.Crash:
		return outage{a.Node, p == nemesis.Nothing, a.RestartDelay}, true
	case *nemesis.PowerLoss:
		return outage{a.Node, p != nemesis.Always, a.RestartDelay}, true
	case *nemesis.Shutdown:
		return outage{a.Node, p == nemesis.Nothing, a.RestartDelay}, true
	case *nemesis.OldSnapshot:
		return outage{a.Node, true, 0}, true
	case *nemesis.VMRestore:
		return outage{a.Node, true, 0}, true
	case *nemesis.Failover:
		return outage{a.Node, true, 0}, true
	}
	return outage{}, false
}

// checkRestart returns an error if a node returns too early without something.
func (a Assumptions) checkRestart(f *nemesis.Fault, s scenarios.Scenario, clocks clockErrors) error {
	o, ok := outageOf(f.Action, s.Persistence)
	if !ok || !o.loses || a.RestartDelay == 0 && !a.NothingForgotten {
		return nil
	}
	away, back := o.away(f, clocks[nemesis.Machine{Node: o.node}])
	switch {
	case !back:
		return nil
	case a.NothingForgotten:
		return fmt.Errorf("node %d returns without something that it had acknowledged, which is excluded (nothing_forgotten)", o.node)
	case away < a.RestartDelay:
		return fmt.Errorf("node %d can return after %v without something that it had acknowledged, sooner than %v (restart_delay)", o.node, away, a.RestartDelay)
	}
	return nil
}

// away returns how long the node stays away at least, and whether it returns.
func (o outage) away(f *nemesis.Fault, clock clockError) (least time.Duration, back bool) {
	if o.restart > 0 {
		left := max(o.restart-clock.step, 0)
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
	if a.Away == nil || unreachable(&s.Plan[number], s).Len() == 0 {
		return nil
	}
	for i := range s.Plan[:number+1] {
		var gone env.NodeSet
		from, _ := period(&s.Plan[i])
		for j := range s.Plan[:number+1] {
			if start, end := period(&s.Plan[j]); start <= from && from <= end {
				gone |= unreachable(&s.Plan[j], s)
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

// unreachable returns the nodes that some client may not reach while a fault is active.
func unreachable(f *nemesis.Fault, s scenarios.Scenario) (gone env.NodeSet) {
	if o, ok := outageOf(f.Action, s.Persistence); ok {
		return env.SetOf(o.node)
	}
	some := func(nodes []int) env.NodeSet { return env.SetOf(nemesis.Each(nodes, s.Nodes)...) }
	switch a := f.Action.(type) {
	case *nemesis.NodePause:
		return env.SetOf(a.Node)
	case *nemesis.SplitBrain:
		return env.SetOf(a.Node)
	case *nemesis.PeerPartition:
		return env.SetOf(a.Minority(s.Nodes)...)
	case *nemesis.NodeError:
		return some(a.Nodes)
	case *nemesis.Loss:
		return some(a.Nodes)
	case *nemesis.Reset:
		return some(a.Nodes)
	case *nemesis.Bandwidth:
		return some(a.Nodes)
	case nemesis.Traffic:
		links, _ := a.Over(s.World())
		for _, l := range links {
			gone |= some(l.Nodes)
		}
	}
	return gone
}
