package shrink

import (
	"iter"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// fewerClients keeps as few clients as it can. With a client the faults go that name
// it; or else what began at its steps begins at those of one that stays. Where a third
// client is there for one more grant, one that stays can ask twice.
func fewerClients(k *shrinking) {
	for kept := range k.going(subsets(len(k.best.Clients), 1)) {
		s := onlyClients(k.best, kept)
		if k.try(s) || k.tryStepsOf(kept) || k.tryRounds(s, kept) {
			return
		}
	}
}

// onlyClients keeps some clients, in the order of the list.
func onlyClients(s scenarios.Scenario, kept []int) scenarios.Scenario {
	all := s.Clients
	s = renumbered(s, keeping(kept, len(all)), nil)
	s.Clients = nil
	for _, c := range kept {
		s.Clients = append(s.Clients, all[c-1])
	}
	return s
}

// tryStepsOf lets what begins or ends at the steps of clients that go do so at those of
// one that stays.
func (k *shrinking) tryStepsOf(kept []int) bool {
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

// tryRounds lets a client that stays do the rounds of those that go as well. s is the
// scenario without them.
func (k *shrinking) tryRounds(s scenarios.Scenario, kept []int) bool {
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

// fewerRounds lets clients lock less often. What happens in a later round is brought
// forward with it.
func fewerRounds(k *shrinking) {
	for i := range k.best.Clients {
		for rounds := 1; rounds < k.best.Clients[i].Rounds && !k.over(); rounds++ {
			if k.tryRoundsOf(i, rounds, 0) || k.tryRoundsOf(i, rounds, k.best.Clients[i].Rounds-rounds) {
				break
			}
		}
	}
}

// tryRoundsOf tries so many rounds of one client, and what would happen at its steps
// so many times earlier.
func (k *shrinking) tryRoundsOf(i, rounds, earlier int) bool {
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

// fewerNodes keeps as few nodes as it can: which, is tried. To leave out one alone is
// seldom enough, for two quorums then come to have more nodes in common, or none is left.
func fewerNodes(k *shrinking) {
	for kept := range k.going(subsets(k.best.Nodes, k.LeastNodes)) {
		if s := onlyNodes(k.best, kept); k.try(s) || k.tryLate(s) {
			return
		}
	}
}

// onlyNodes keeps some nodes, in the order of the list.
func onlyNodes(s scenarios.Scenario, kept []int) scenarios.Scenario {
	s = renumbered(s, nil, keeping(kept, s.Nodes))
	s.Nodes = len(kept)
	return s
}

// tryLate lets one of the clients come later who come at once. Where two do, a delay says
// who of them is first, and with fewer nodes it may say something else.
func (k *shrinking) tryLate(s scenarios.Scenario) bool {
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

// lowerNumbers changes the places of two clients, or of two nodes, so that those come
// first of whom the plan tells.
func lowerNumbers(k *shrinking) {
	for order := range k.going(swaps(len(k.best.Clients))) {
		k.try(onlyClients(k.best, order))
	}
	for order := range k.going(swaps(k.best.Nodes)) {
		k.try(onlyNodes(k.best, order))
	}
}

// swaps yields the orders of 1 to n in which two have changed places. They are made one by
// one: of a thousand clients there are half a million.
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

// numbering says which number each client, or node, has by now: 0 for one that is
// gone. What is not in the map keeps its number.
type numbering map[int]int

// keeping numbers those anew, of 1 to n, that are kept: the first of the list is 1.
func keeping(kept []int, n int) numbering {
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

// list renumbers a list, and reports whether somebody is left. An empty one, which
// means all or none, stays empty.
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

// renumbered returns a scenario in which clients and nodes have other numbers, of which
// their lists know nothing yet. What names nobody any more goes.
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

// renumberFault gives those whom a fault names their new numbers, and reports whether
// all are left that it cannot do without.
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

// manySubsets is up to how many things all subsets are tried. Of more only those of a
// single one, or that lack one or two.
const manySubsets = 6

// subsets yields the proper subsets of 1 to n that have at least so many members, the
// smallest first: which to keep. They are made one by one, for there can be many.
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

// choose yields the ways to choose so many of the numbers from 1 to n, in the order of a
// dictionary. Each is a slice of its own.
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
