package scenarios

import (
	"slices"

	"github.com/lockstorm/lockstorm/nemesis"
)

// OnlyClients returns the scenario with some of its clients, which are numbered anew in the order of
// the list. Faults and links that name nobody any more are removed.
func (s Scenario) OnlyClients(kept []int) Scenario {
	all := s.Clients
	s = s.renumbered(keepOnly(kept, len(all)), nil)
	s.Clients = nil
	for _, c := range kept {
		s.Clients = append(s.Clients, all[c-1])
	}
	return s
}

// OnlyNodes returns the scenario with some of its nodes, which are numbered anew in the order of the
// list. Faults and links that name no node any more are removed.
func (s Scenario) OnlyNodes(kept []int) Scenario {
	s = s.renumbered(nil, keepOnly(kept, s.Nodes))
	s.Nodes = len(kept)
	return s
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

// renumbered returns the scenario with other numbers of clients and nodes in its plan and links.
func (s Scenario) renumbered(clients, nodes numbering) Scenario {
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
	grouped, prunes := f.Action.(nemesis.Pruner)
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
			left = left && (some || prunes)
		}
	})
	return left && (!prunes || grouped.Prune())
}
