package shrink

import (
	"iter"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// fewerClients keeps as few clients as possible. A client is removed with the faults that name
// it, or what began at its steps begins at those of another client. If a third client is there
// for one more grant, another one can ask twice.
func fewerClients(k *reduction) {
	for kept := range k.untilExhausted(subsets(len(k.best.Clients), 1)) {
		s := k.best.OnlyClients(kept)
		if k.try(s) || k.tryStepsOf(kept) || k.tryRounds(s, kept) {
			return
		}
	}
}

// tryStepsOf moves what begins or ends at the steps of removed clients to those of a remaining
// one.
func (k *reduction) tryStepsOf(kept []int) bool {
	for _, c := range kept {
		s := k.best
		s.Setting = s.Clone()
		for i := range s.Plan {
			for _, m := range []*nemesis.Trigger{&s.Plan[i].Start, s.Plan[i].End} {
				if m != nil && m.Client != 0 && !slices.Contains(kept, m.Client) {
					m.Client = c
				}
			}
		}
		if k.try(s.OnlyClients(kept)) {
			return true
		}
	}
	return false
}

// tryRounds adds the rounds of the removed clients to a remaining one. s is the scenario
// without them.
func (k *reduction) tryRounds(s scenarios.Scenario, kept []int) bool {
	gone := 0
	for i, c := range k.best.Clients {
		if !slices.Contains(kept, i+1) {
			gone += c.Rounds
		}
	}
	for i := range s.Clients {
		more := s
		more.Clients = slices.Clone(s.Clients)
		more.Clients[i].Rounds += gone
		if k.try(more) {
			return true
		}
	}
	return false
}

// fewerRounds lets clients lock less often. What happens in a later round is moved to an
// earlier one.
func fewerRounds(k *reduction) {
	for i := range k.best.Clients {
		for rounds := 1; rounds < k.best.Clients[i].Rounds && !k.exhausted(); rounds++ {
			if k.tryRoundsOf(i, rounds, 0) || k.tryRoundsOf(i, rounds, k.best.Clients[i].Rounds-rounds) {
				break
			}
		}
	}
}

// tryRoundsOf tries fewer rounds of one client. Triggers at its steps are moved earlier times
// occurrences earlier.
func (k *reduction) tryRoundsOf(i, rounds, earlier int) bool {
	s := k.best
	s.Clients = slices.Clone(s.Clients)
	s.Clients[i].Rounds = rounds
	if earlier > 0 {
		s.Setting = s.Clone()
		for n := range s.Plan {
			bringForward(&s.Plan[n].Start, i+1, earlier)
			bringForward(s.Plan[n].End, i+1, earlier)
		}
	}
	return k.try(s)
}

func bringForward(m *nemesis.Trigger, client, times int) {
	if m != nil && m.Client == client && m.Count > 0 {
		m.Count = max(0, m.Count-times)
		if m.Count == 1 {
			m.Count = 0
		}
	}
}

// fewerNodes keeps as few nodes as possible, by trying subsets. Removing a single one is
// seldom enough, since two quorums then have more nodes in common, or there is none.
func fewerNodes(k *reduction) {
	for kept := range k.untilExhausted(subsets(k.best.Nodes, k.LeastNodes)) {
		if s := k.best.OnlyNodes(kept); k.try(s) || k.tryLate(s) {
			return
		}
	}
}

// tryLate lets one of the clients that start at once start later. If two start at once, a
// random delay decides who is first, and with fewer nodes it may decide otherwise.
func (k *reduction) tryLate(s scenarios.Scenario) bool {
	for i, c := range s.Clients {
		if c.Start.Max > 0 {
			continue
		}
		late := s
		late.Clients = slices.Clone(s.Clients)
		late.Clients[i].Start = nemesis.Range{Min: 20 * time.Millisecond, Max: 20 * time.Millisecond}
		if k.try(late) {
			return true
		}
	}
	return false
}

// swapNumbers swaps two clients, or two nodes, so that those in the plan come first.
func swapNumbers(k *reduction) {
	for order := range k.untilExhausted(swaps(len(k.best.Clients))) {
		k.try(k.best.OnlyClients(order))
	}
	for order := range k.untilExhausted(swaps(k.best.Nodes)) {
		k.try(k.best.OnlyNodes(order))
	}
}

// swaps yields the orders of 1 to n with two swapped. A thousand clients have half a million,
// so they are made one by one.
func swaps(n int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for i := range n {
			for j := range i {
				order := make([]int, n)
				for at := range order {
					order[at] = at + 1
				}
				order[i], order[j] = order[j], order[i]
				if !yield(order) {
					return
				}
			}
		}
	}
}

// manySubsets is up to how many elements all subsets are tried. Of more, only those with one
// element, or without one or two.
const manySubsets = 6

// subsets yields the proper subsets of 1 to n with at least so many elements, the smallest
// first. They are made one by one, since there can be many.
func subsets(n, least int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for size := max(least, 1); size < n; size++ {
			if n > manySubsets && size > 1 && size < n-2 {
				size = n - 3 // none between
				continue
			}
			for one := range choose(n, size) {
				if !yield(one) {
					return
				}
			}
		}
	}
}

// choose yields the subsets of 1 to n with size elements, in lexical order. Each is a new
// slice.
func choose(n, size int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		way := make([]int, size)
		for i := range way {
			way[i] = i + 1
		}
		for size <= n && yield(slices.Clone(way)) {
			last := size - 1
			for last >= 0 && way[last] == n-size+last+1 {
				last--
			}
			if last < 0 {
				return
			}
			way[last]++
			for i := last + 1; i < size; i++ {
				way[i] = way[i-1] + 1
			}
		}
	}
}
