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
		s := onlyClients(k.best, kept)
		if k.try(s) || k.tryStepsOf(kept) || k.tryRounds(s, kept) {
			return
		}
	}
}

// onlyClients keeps some clients, in the order of the list.
func onlyClients(s scenarios.Scenario, kept []int) scenarios.Scenario {
	all := s.Clients
	s = renumbered(s, keepOnly(kept, len(all)), nil)
	s.Clients = nil
	for _, c := range kept {
		s.Clients = append(s.Clients, all[c-1])
	}
	return s
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
		if k.try(onlyClients(s, kept)) {
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
		if s := onlyNodes(k.best, kept); k.try(s) || k.tryLate(s) {
			return
		}
	}
}

// onlyNodes keeps some nodes, in the order of the list.
func onlyNodes(s scenarios.Scenario, kept []int) scenarios.Scenario {
	s = renumbered(s, nil, keepOnly(kept, s.Nodes))
	s.Nodes = len(kept)
	return s
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
		k.try(onlyClients(k.best, order))
	}
	for order := range k.untilExhausted(swaps(k.best.Nodes)) {
		k.try(onlyNodes(k.best, order))
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

// numbering maps the old numbers of clients or nodes to new ones, 0 for a removed one. Missing
// ones keep their numbers.
type numbering map[int]int

// keepOnly renumbers those of 1 to n that are kept: the first of the list becomes 1.
func keepOnly(kept []int, n int) numbering {
	to := numbering{}
	for old := 1; old <= n; old++ {
		to[old] = slices.Index(kept, old) + 1
	}
	return to
}

func (to numbering) of(old int) int {
	if n, ok := to[old]; ok {
		return n
	}
	return old
}

// list renumbers a list, and reports whether somebody is left. An empty list, which means all
// or none, stays empty.
func (to numbering) list(old []int) ([]int, bool) {
	var list []int
	for _, o := range old {
		if n := to.of(o); n != 0 {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list, len(list) > 0 || len(old) == 0
}

// renumbered returns a scenario whose plan and links have other numbers of clients and nodes.
// Faults and links that name nobody any more are removed.
func renumbered(s scenarios.Scenario, clients, nodes numbering) scenarios.Scenario {
	s.Setting = s.Clone()
	var plan nemesis.Plan
	for _, f := range s.Plan {
		if renumberFault(&f, clients, nodes) {
			plan = append(plan, f)
		}
	}
	s.Plan = plan
	var links []nemesis.LinkLatency
	for _, l := range s.Links {
		var someone, somewhere bool
		l.Clients, someone = clients.list(l.Clients)
		l.Nodes, somewhere = nodes.list(l.Nodes)
		if someone && somewhere {
			links = append(links, l)
		}
	}
	s.Links = links
	return s
}

// renumberFault renumbers the targets of a fault, and reports whether all required ones are
// left.
func renumberFault(f *nemesis.Fault, clients, nodes numbering) bool {
	split, isSplit := f.Action.(*nemesis.Split)
	left := true
	f.EachValue(func(name string, value any) {
		to := clients
		if name == "node" || name == "nodes" {
			to = nodes
		}
		switch v := value.(type) {
		case *int:
			if name == "node" || name == "client" {
				old := *v
				*v = to.of(old)
				left = left && (old == 0 || *v != 0)
			}
		case *[]int:
			list, some := to.list(*v)
			*v = list
			left = left && (some || isSplit)
		}
	})
	if isSplit {
		split.Groups = slices.DeleteFunc(split.Groups, func(g nemesis.Group) bool { return len(g.Clients)+len(g.Nodes) == 0 })
		left = left && len(split.Groups) > 1
	}
	return left
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
