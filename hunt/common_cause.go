package hunt

import (
	"slices"

	"github.com/lockstorm/lockstorm/nemesis"
)

// nodeOf returns where a fault names the one node that it befalls; nil: it names none, or
// several.
func nodeOf(f *nemesis.Fault) *int {
	if node := nodeField(f); node != nil && *node > 0 {
		return node
	}
	return nil
}

func nodeField(f *nemesis.Fault) (node *int) {
	f.EachValue(func(name string, value any) {
		if n, ok := value.(*int); ok && name == "node" {
			node = n
		}
	})
	return node
}

// ofNode are the kinds of faults that can befall one node.
var ofNode = func() map[nemesis.Kind]bool {
	kinds := map[nemesis.Kind]bool{}
	for _, a := range nemesis.Actions() {
		kinds[a.Kind()] = nodeField(&nemesis.Fault{Action: a}) != nil
	}
	return kinds
}()

// befallingNodes are the weights of those kinds alone; nil: there is none.
func befallingNodes(w nemesis.Weights) (nodes nemesis.Weights) {
	for k, weight := range w {
		if ofNode[k] && weight > 0 {
			if nodes == nil {
				nodes = nemesis.Weights{}
			}
			nodes[k] = weight
		}
	}
	return nodes
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
	if d.chance(60) {
		f = lasting(f, s)
	}
	for _, n := range d.Perm(s.Nodes)[:many] {
		again := nemesis.Plan{f}.Clone()
		*nodeOf(&again[0]) = n + 1
		alike = append(alike, again[0])
	}
	slices.SortFunc(alike, func(a, b nemesis.Fault) int { return *nodeOf(&a) - *nodeOf(&b) })
	return alike
}
