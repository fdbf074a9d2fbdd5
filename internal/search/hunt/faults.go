package hunt

import (
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// fromStart lets a fault begin with the run, so that all requests and grants are affected: for
// good, or until a client takes a decisive step.
func fromStart(d rng, f nemesis.Fault, s nemesis.Setting) nemesis.Fault {
	early := f
	early.Start = nemesis.At(0)
	if d.chance(50) {
		return withoutEnd(orElse(early, f, s), s)
	}
	step := nemesis.StepName(env.StepGranted.String())
	if d.chance(40) {
		step = pick(d, decisiveSteps...)
	}
	early.End = &nemesis.Trigger{Client: 1 + d.IntN(s.Clients), Step: step}
	return orElse(early, f, s)
}

// orElse returns f if it fits into the setting, and otherwise the other fault.
func orElse(f, otherwise nemesis.Fault, s nemesis.Setting) nemesis.Fault {
	if fits(f, s) {
		return f
	}
	return otherwise
}

// fits reports whether a fault is valid in a setting, together with its plan.
func fits(f nemesis.Fault, s nemesis.Setting) bool {
	s.Plan = append(slices.Clone(s.Plan), f)
	return s.Validate() == nil && s.Plan.Disjoint(s)
}

// decisiveSteps are the steps of a client between which a fault can matter.
var decisiveSteps = stepNames(
	env.StepBeforeSend, env.StepReply, env.StepQuorum, env.StepAfterCheck, env.StepGranted,
	env.StepExtend, env.StepExtended, env.StepBeforeWrite, env.StepBeforeRelease,
)

func stepNames(steps ...env.Step) (names []nemesis.StepName) {
	for _, s := range steps {
		names = append(names, nemesis.StepName(s.String()))
	}
	return names
}

// nodeOf returns a pointer to the number of the one node that a fault hits, or nil.
func nodeOf(f *nemesis.Fault) *int {
	if node := targetOf(f.Action, "node"); node != nil && *node > 0 {
		return node
	}
	return nil
}

// targetOf returns a pointer to the number of the node, or of the client, that an action
// names, or nil.
func targetOf(a nemesis.Action, whom string) (number *int) {
	f := nemesis.Fault{Action: a}
	f.EachValue(func(name string, value any) {
		if n, ok := value.(*int); ok && name == whom && (whom != "client" || n != &f.Start.Client) {
			number = n
		}
	})
	return number
}

// nodeKinds are the kinds of faults that can hit one node, clientKinds those that hit a client
// and never a node, clockKinds those that hit the machine of either.
var nodeKinds, clientKinds, clockKinds = func() (nodes, clients, clocks map[nemesis.Kind]bool) {
	nodes, clients, clocks = map[nemesis.Kind]bool{}, map[nemesis.Kind]bool{}, map[nemesis.Kind]bool{}
	for _, a := range nemesis.Actions() {
		node, client := targetOf(a, "node") != nil, targetOf(a, "client") != nil
		nodes[a.Kind()], clients[a.Kind()], clocks[a.Kind()] = node, client && !node, client && node
	}
	return nodes, clients, clocks
}()

// onlyKinds limits a generator to some kinds, and reports whether any of them has a weight.
func onlyKinds(g nemesis.Generator, kinds map[nemesis.Kind]bool) (nemesis.Generator, bool) {
	those := nemesis.Weights{}
	for k, weight := range g.Faults {
		if kinds[k] && weight > 0 {
			those[k] = weight
		}
	}
	g.Faults = those
	return g, len(those) > 0
}

// withoutEnd returns the fault without an end, if that is valid.
func withoutEnd(f nemesis.Fault, s nemesis.Setting) nemesis.Fault {
	endless := f
	endless.End = nil
	return orElse(endless, f, s)
}

// commonCause applies a fault of one node to several nodes, as a wrong clock server does, or a
// power cut. A lock that withstands any minority may not withstand that, and independent draws
// are never alike.
func commonCause(d rng, f nemesis.Fault, s nemesis.Setting, many int) (alike nemesis.Plan) {
	switch d.IntN(3) {
	case 0:
		f = withoutEnd(f, s)
	case 1:
		f = fromStart(d, f, s)
	}
	return inNodes(d, f, s, many)
}

// inNodes applies a fault of one node to several nodes at once.
func inNodes(d rng, f nemesis.Fault, s nemesis.Setting, many int) (alike nemesis.Plan) {
	for _, n := range d.Perm(s.Nodes)[:many] {
		again := nemesis.Plan{f}.Clone()
		*nodeOf(&again[0]) = n + 1
		alike = append(alike, again[0])
	}
	slices.SortFunc(alike, func(a, b nemesis.Fault) int { return *nodeOf(&a) - *nodeOf(&b) })
	return alike
}

// opposite returns the same clock error in the other direction.
func opposite(f nemesis.Fault) (nemesis.Fault, bool) {
	action, ok := nemesis.Opposite(f.Action)
	f.Action = action
	return f, ok
}

// slows reports whether a fault sets a clock back or makes it slow.
func slows(f nemesis.Fault) bool {
	e := f.Action.Effects(nemesis.Setting{}).Clock
	return e.PPM < 0 || e.Step < 0
}

// ofMachine returns the clock fault for another machine.
func ofMachine(f nemesis.Fault, m nemesis.Machine) nemesis.Fault {
	f = nemesis.Plan{f}.Clone()[0]
	*targetOf(f.Action, "node"), *targetOf(f.Action, "client") = m.Node, m.Client
	return f
}
