package shrink

import (
	"slices"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

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
