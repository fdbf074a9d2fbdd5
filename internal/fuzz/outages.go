package fuzz

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// outage is a fault that takes a node's server down.
type outage struct {
	node    int
	loses   bool          // something that it had acknowledged
	restart time.Duration // by its own wall clock; 0: the end of the fault says
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

// restart says why a node comes back too soon without something, if it does.
func (a Assumptions) restart(f *nemesis.Fault, s scenarios.Scenario, clocks tamperings) error {
	o, ok := outageOf(f.Action, s.Persistence)
	if !ok || !o.loses || a.RestartDelay == 0 && !a.NothingForgotten {
		return nil
	}
	away, back := o.away(f, clocks[nemesis.Machine{Node: o.node}])
	switch {
	case !back:
		return nil
	case a.NothingForgotten:
		return fmt.Errorf("node %d comes back without something that it had acknowledged, and is assumed to forget nothing", o.node)
	case away < a.RestartDelay:
		return fmt.Errorf("node %d can be back after %v without something that it had acknowledged, and is assumed to stay away for %v", o.node, away, a.RestartDelay)
	}
	return nil
}

// away returns how long the node stays away at least, and whether it comes back.
func (o outage) away(f *nemesis.Fault, clock tampering) (least time.Duration, back bool) {
	if o.restart > 0 {
		left := max(o.restart-clock.step, 0)
		return time.Duration(float64(left) / (1 + float64(clock.fast)/1e6)), true
	}
	if f.End == nil {
		return 0, false
	}
	least, _ = lasts(f)
	return least, true
}

// away says which nodes are away when some fault begins, if with the fault of that
// number they are too many. Of a fault that begins or ends at a step it is not known
// when, and so it may be at work all the time.
func (a Assumptions) away(s scenarios.Scenario, number int) error {
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
			return fmt.Errorf("with it nodes %v can be away at a time, and %d are assumed to be at most", gone.List(), *a.Away)
		}
	}
	return nil
}

// period returns from when until when a fault can be at work, as far as that is known.
func period(f *nemesis.Fault) (from, to time.Duration) {
	if f.Start.Client != 0 {
		return 0, nemesis.MaxDuration
	}
	d, known := lasts(f)
	if !known {
		return f.Start.At, nemesis.MaxDuration
	}
	return f.Start.At, f.Start.At + d
}

// unreachable returns the nodes that some client may not reach while a fault is at work.
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
