package fuzz

import (
	"slices"

	"github.com/lockstorm/lockstorm/nemesis"
)

// nodeOf returns where a fault names the one node that it befalls; nil: it names none, or
// several.
func nodeOf(f *nemesis.Fault) *int {
	if node := numberOf(f.Action, "node"); node != nil && *node > 0 {
		return node
	}
	return nil
}

// numberOf returns where an action names one node, or one client; nil: it cannot.
func numberOf(a nemesis.Action, whom string) (number *int) {
	f := nemesis.Fault{Action: a}
	f.EachValue(func(name string, value any) {
		if n, ok := value.(*int); ok && name == whom && (whom != "client" || n != &f.Start.Client) {
			number = n
		}
	})
	return number
}

// ofNodes are the kinds of faults that can befall one node, ofClients those that befall
// one client and cannot befall a node, ofClocks those that befall the machine of either.
var ofNodes, ofClients, ofClocks = func() (nodes, clients, clocks map[nemesis.Kind]bool) {
	nodes, clients, clocks = map[nemesis.Kind]bool{}, map[nemesis.Kind]bool{}, map[nemesis.Kind]bool{}
	for _, a := range nemesis.Actions() {
		node, client := numberOf(a, "node") != nil, numberOf(a, "client") != nil
		nodes[a.Kind()], clients[a.Kind()], clocks[a.Kind()] = node, client && !node, client && node
	}
	return nodes, clients, clocks
}()

// onlyThose draws of these kinds alone, if any of them has a weight: the others are many,
// and would mostly be drawn instead.
func onlyThose(g nemesis.Generator, kinds map[nemesis.Kind]bool) (nemesis.Generator, bool) {
	those := nemesis.Weights{}
	for k, weight := range g.Faults {
		if kinds[k] && weight > 0 {
			those[k] = weight
		}
	}
	g.Faults = those
	return g, len(those) > 0
}

// lasting is a fault that does not end, if it can be that.
func lasting(f nemesis.Fault, s nemesis.Setting) nemesis.Fault {
	endless := f
	endless.End = nil
	return valid(endless, f, s)
}

// commonCause lets a fault of one node befall so many nodes alike, as a clock server does
// that is wrong, or a power cut: a lock that withstands any minority may not withstand
// that, and by chance faults are never alike.
func commonCause(d dice, f nemesis.Fault, s nemesis.Setting, many int) (alike nemesis.Plan) {
	switch d.IntN(3) {
	case 0:
		f = lasting(f, s)
	case 1:
		f = fromOutset(d, f, s)
	}
	return inNodes(d, f, s, many)
}

// inNodes lets a fault of one node befall so many nodes at once.
func inNodes(d dice, f nemesis.Fault, s nemesis.Setting, many int) (alike nemesis.Plan) {
	for _, n := range d.Perm(s.Nodes)[:many] {
		again := nemesis.Plan{f}.Clone()
		*nodeOf(&again[0]) = n + 1
		alike = append(alike, again[0])
	}
	slices.SortFunc(alike, func(a, b nemesis.Fault) int { return *nodeOf(&a) - *nodeOf(&b) })
	return alike
}
