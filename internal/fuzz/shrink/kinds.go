package shrink

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// simplerKinds puts a fault of a simpler kind in the place of one: it takes away the
// same server, stops the same client, cuts the same links. For the same to come of it
// it may have to last longer.
func simplerKinds(k *shrinking) {
	for i := range k.best.Plan {
		f := k.best.Plan[i]
		simpler := simplerKind(f, k.best)
		if simpler == nil {
			continue
		}
		f.Action = simpler
		ttl := k.best.Lock.TTL
		for _, end := range []*nemesis.Trigger{f.End, nil, nemesis.After(ttl), nemesis.After(2 * ttl)} {
			if f.End = end; k.withFault(i, f) {
				break
			}
		}
	}
}

// simplerKind returns what is simpler than the action of a fault and most like it, nil
// if there is nothing.
func simplerKind(f nemesis.Fault, s scenarios.Scenario) nemesis.Action {
	switch a := f.Action.(type) {
	case *nemesis.PowerLoss:
		return &nemesis.Crash{Node: a.Node, RestartDelay: a.RestartDelay}
	case *nemesis.Shutdown:
		return &nemesis.Crash{Node: a.Node, RestartDelay: a.RestartDelay}
	case *nemesis.Failover:
		return &nemesis.Crash{Node: a.Node}
	case *nemesis.OldSnapshot:
		return &nemesis.Crash{Node: a.Node}
	case *nemesis.Evict:
		if usual := (nemesis.Evict{Node: a.Node}); *a != usual {
			return &usual
		}
	case *nemesis.SplitBrain:
		return &nemesis.Failover{Node: a.Node}
	case *nemesis.VMRestore:
		return &nemesis.OldSnapshot{Node: a.Node, Age: a.Age}
	case *nemesis.Suspend:
		return &nemesis.Pause{Client: a.Client}
	case *nemesis.Snapshot:
		return &nemesis.Pause{Client: a.Client}
	case *nemesis.ClockStrobe:
		return &nemesis.ClockJump{Machine: a.Machine, By: a.By}
	case *nemesis.Loss:
		return &nemesis.Partition{Links: a.Links, Way: a.Way}
	case *nemesis.Latency:
		return &nemesis.Partition{Links: a.Links, Way: a.Way}
	case *nemesis.Bandwidth:
		return &nemesis.Partition{Links: a.Links, Way: a.Way}
	case *nemesis.Reset:
		return &nemesis.Partition{Links: a.Links, Way: a.Way}
	case *nemesis.Split:
		if cuts, _ := a.Over(s.World()); len(cuts) == 1 {
			return &nemesis.Partition{Links: cuts[0]}
		}
	}
	return nil
}
