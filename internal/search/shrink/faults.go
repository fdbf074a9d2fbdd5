package shrink

import (
	"reflect"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// fewerFaults removes faults by delta debugging (Zeller and Hildebrandt, 2002): large parts of
// the plan first, then smaller ones, down to single faults.
func fewerFaults(k *reduction) {
	for size := len(k.best.Plan); size > 0; size /= 2 {
		for i := 0; i < len(k.best.Plan); {
			if !k.withoutFaults(i, min(i+size, len(k.best.Plan))) {
				i += size
			}
		}
	}
	for i := range k.best.Plan {
		k.onFewerNodes(i)
	}
}

// onFewerNodes tries to leave out one node of a fault on all nodes, which is written out for the others.
func (k *reduction) onFewerNodes(i int) {
	each := k.best.Plan[i : i+1].EachNode(k.best.Nodes)
	for n := 0; len(each) > 1 && n < len(each); n++ {
		s := k.best
		s.Plan = slices.Concat(s.Plan[:i], each[:n], each[n+1:], s.Plan[i+1:])
		if k.try(s) {
			return
		}
	}
}

// withoutFaults tries to remove some faults. A fault that only made one client come before
// another is not needed if the two are swapped.
func (k *reduction) withoutFaults(from, to int) bool {
	s := k.best
	s.Plan = slices.Delete(slices.Clone(s.Plan), from, to)
	if k.try(s) {
		return true
	}
	if k.PlanOnly {
		return false
	}
	for order := range k.untilExhausted(swaps(len(s.Clients))) {
		if k.try(s.OnlyClients(order)) {
			return true
		}
	}
	return false
}

// withFault tries another fault in a place of the plan.
func (k *reduction) withFault(i int, f nemesis.Fault) bool {
	s := k.best
	s.Plan = slices.Clone(s.Plan)
	s.Plan[i] = f
	return k.try(s)
}

// cutsInstead replaces a fault with a partition from the beginning to the end: two nodes have
// to fail if a client has its keys on both, but one is enough for a client that reaches a bare
// quorum. If two clients have, each needs a partition.
func cutsInstead(k *reduction) {
	for i := 0; i < len(k.best.Plan); i++ {
		if !IsLastingCut(k.best.Plan[i]) && !k.tryCut(i) {
			k.tryTwoCuts(i)
		}
	}
}

// tryCut tries to cut off a client from fewer than half of the nodes.
func (k *reduction) tryCut(i int) bool {
	nodes := k.best.Nodes
	for size := 1; 2*size < nodes; size++ {
		for off := range k.untilExhausted(choose(nodes, size)) {
			for c := range k.best.Clients {
				if k.withFault(i, cut(c+1, off...)) {
					return true
				}
			}
		}
		if nodes > manySubsets {
			break
		}
	}
	return false
}

// tryTwoCuts tries to cut off two clients from a node each, if another fault remains.
// Otherwise a single cut has been tried.
func (k *reduction) tryTwoCuts(i int) {
	if k.size.Causes < 2 || k.best.Nodes < 3 || k.best.Nodes > manySubsets {
		return
	}
	for clients := range k.untilExhausted(choose(len(k.best.Clients), 2)) {
		for a := range k.best.Nodes {
			for b := range k.best.Nodes {
				s := k.best
				s.Plan = append(slices.Delete(slices.Clone(s.Plan), i, i+1), cut(clients[0], a+1), cut(clients[1], b+1))
				if k.try(s) {
					return
				}
			}
		}
	}
}

// cut cuts off a client from some nodes for good.
func cut(client int, nodes ...int) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{client}, Nodes: nodes}}}
}

// simplifyKinds replaces a fault with one of a simpler kind, which takes down the same server,
// stops the same client, or cuts the same links. It may have to last longer.
func simplifyKinds(k *reduction) {
	for i := range k.best.Plan {
		f := k.best.Plan[i]
		simpler := nemesis.Simpler(f.Action, k.best.World())
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

// simplifyTriggers lets faults start and end at simpler moments: at a time, or when a client
// takes a step; without an end, or some time after the start.
func simplifyTriggers(k *reduction) {
	for i := range k.best.Plan {
		for _, m := range k.starts() {
			f := k.best.Plan[i]
			if f.Start = m; k.withFault(i, f) {
				break
			}
		}
		k.tryEnds(i)
	}
}

// starts lists possible starts of a fault, the simplest first.
func (k *reduction) starts() []nemesis.Trigger {
	list := []nemesis.Trigger{{}}
	for _, step := range steps {
		for c := range k.best.Clients {
			list = append(list, nemesis.Trigger{Client: c + 1, Step: nemesis.StepName(step)})
		}
	}
	for c := range k.best.Clients {
		for count := 2; count <= 3; count++ {
			list = append(list, nemesis.Trigger{Client: c + 1, Step: nemesis.StepName(steps[0]), Count: count})
		}
	}
	return list
}

// tryEnds tries no end, or an end after some time. A server that restarts by its own clock is
// restarted that way as well.
func (k *reduction) tryEnds(i int) {
	if k.tryWithoutHealing(i) {
		return
	}
	f := k.best.Plan[i]
	if f.End == nil && !startsItself(f) {
		return
	}
	f = nemesis.Plan{f}.Clone()[0]
	f.EachValue(func(name string, value any) {
		if d, ok := value.(*time.Duration); ok && name == restartDelay {
			*d = 0
		}
	})
	for _, end := range k.ends(f) {
		if f.End = end; k.withFault(i, f) {
			return
		}
	}
}

// tryWithoutHealing leaves a clock wrong. A healing fault needs an end, and a jump with an end
// needs healing: the two are removed together.
func (k *reduction) tryWithoutHealing(i int) bool {
	f := nemesis.Plan{k.best.Plan[i]}.Clone()[0]
	healing := reflect.ValueOf(f.Action).Elem().FieldByName("Healing")
	if !healing.IsValid() || healing.IsZero() {
		return false
	}
	healing.SetZero()
	f.End = nil
	return k.withFault(i, f)
}

// restartDelay is the field of a fault that takes the place of its end.
const restartDelay = "restart_delay"

func startsItself(f nemesis.Fault) (itself bool) {
	f.EachValue(func(name string, value any) {
		d, ok := value.(*time.Duration)
		itself = itself || ok && name == restartDelay && *d > 0
	})
	return itself
}

// ends lists possible ends of a fault, the simplest first.
func (k *reduction) ends(f nemesis.Fault) []*nemesis.Trigger {
	list := []*nemesis.Trigger{nil}
	if startsItself(f) {
		return list
	}
	for _, d := range rounderNumbers(int64(2*k.best.Horizon), int64(time.Millisecond)) {
		list = append(list, nemesis.After(time.Duration(d)))
	}
	return slices.Clip(list)
}
