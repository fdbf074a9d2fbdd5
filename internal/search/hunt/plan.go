package hunt

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// plan draws the faults of a scenario: with the generator and, in some draws, aimed.
func (h Hunt) plan(g nemesis.Generator, s scenarios.Scenario, admits func(nemesis.Fault) bool, random *rand.Rand) nemesis.Plan {
	p := planner{
		rng: rng{random}, admits: admits, left: g.Most, world: s.World(),
		scale:      max(s.LongestTTL(), s.Lock.Quarantine), // earlier, nobody may have been granted anything
		boundaries: h.boundaries(s),
	}
	p.aim(g, s)
	if len(p.world.Plan) == 0 || p.chance(65) { // other faults can hide it
		p.add(p.draw(g, p.left, anyFault)...)
	}
	return p.world.Plan
}

// planner draws a plan, which is that of its world.
type planner struct {
	rng
	admits     func(nemesis.Fault) bool
	world      nemesis.Setting
	scale      time.Duration // see [nemesis.Generator.Plan]
	left       int           // number of faults that may be added
	boundaries boundaries
}

// aim draws faults that belong together. A lock on a majority of nodes rarely shows anything
// under a single fault, since the other nodes make up for it. An aimed plan leaves clients
// with a bare majority, or with half of an even number of nodes; or gives most nodes the same
// fault; or has a fault from the start; and lets another fault begin at a decisive step.
func (p *planner) aim(g nemesis.Generator, s scenarios.Scenario) {
	nodal, some := onlyKinds(g, nodeKinds)
	if s.Lock.Quarantine > 0 && p.chance(40) {
		p.restartMost(g, s)
	} else if most := s.Nodes/2 + 1; p.chance(12) && s.Nodes > 1 && p.left > most && some {
		for _, f := range p.draw(nodal, 1, func(f nemesis.Fault) bool { return nodeOf(&f) != nil }) {
			p.add(commonCause(p.rng, f, p.world, pick(p.rng, most, most, most, s.Nodes/2, max(most-2, 1)))...)
		}
	}
	edgewise := 20
	if runsOut(s) {
		edgewise = 60
	}
	if p.chance(edgewise) {
		p.addAtBoundaries(g)
	}
	if p.chance(35) && p.left > 2 && len(p.world.Plan) == 0 {
		p.add(drawCuts(p.rng, g, s)...)
	}
	if p.chance(20) && some {
		for _, f := range p.draw(nodal, 1, anyFault) {
			p.add(fromStart(p.rng, f, p.world))
		}
	}
	if p.chance(35) {
		from := g
		if clients, some := onlyKinds(g, clientKinds); some && p.chance(50) {
			from = clients
		}
		p.add(p.draw(from, 1, func(f nemesis.Fault) bool {
			return slices.Contains(decisiveSteps, f.Start.Step) && hitsSameClient(f) && stepOccurs(f.Start, s)
		})...)
	}
}

// restartMost lets most nodes restart and soon return, just after a client was granted
// something. That is what a quarantine is for.
func (p *planner) restartMost(g nemesis.Generator, s scenarios.Scenario) {
	most := s.Nodes/2 + 1
	crashes, some := onlyKinds(g, map[nemesis.Kind]bool{"crash": true})
	if !some || p.left < most {
		return
	}
	soon := *p
	soon.scale = s.Lock.TTL / 2
	after := pick(p.rng, stepExtended, stepExtended, stepGranted)
	for _, f := range soon.draw(crashes, 1, func(f nemesis.Fault) bool { return f.Start.Step == after && stepOccurs(f.Start, s) }) {
		p.add(inNodes(p.rng, f, p.world, most)...)
	}
}

func anyFault(nemesis.Fault) bool { return true }

// draw draws faults with a generator, compatible with those of the plan.
func (p *planner) draw(g nemesis.Generator, most int, fit func(nemesis.Fault) bool) nemesis.Plan {
	if g.Most = min(most, p.left); g.Most <= 0 {
		return nil
	}
	admitting := g.Admitting(func(f nemesis.Fault) bool { return p.admits(f) && fit(f) })
	plan := admitting.Plan(p.world, p.scale, nemesis.Stream(p.Uint64(), nemesis.PlanStream))
	for i := range plan {
		if p.chance(15) {
			beside := p.world
			beside.Plan = slices.Concat(p.world.Plan, plan[:i], plan[i+1:])
			plan[i] = p.boundaries.moveTo(p.rng, plan[i], beside)
		}
	}
	return plan
}

// add adds the admitted faults.
func (p *planner) add(faults ...nemesis.Fault) {
	for _, f := range faults {
		if p.admits(f) {
			p.world.Plan = append(p.world.Plan, f)
			p.left--
		}
	}
}

// hitsSameClient reports whether a fault of a client hits the client at whose step it begins.
// The step says little about other clients. A client all of whose clocks stop with it notices nothing, so
// for that one no step is decisive.
func hitsSameClient(f nemesis.Fault) bool {
	e := f.Action.Effects(nemesis.Setting{})
	return e.Client == 0 || e.Client == f.Start.Client || e.Clock.Stops == nemesis.AllClocks
}

// stepOccurs reports whether the client takes such a step at all. Not all clients extend or
// write.
func stepOccurs(m nemesis.Trigger, s scenarios.Scenario) bool {
	c := s.Clients[max(m.Client, 1)-1]
	switch m.Step {
	case stepExtend, stepExtended:
		return c.ExtendEvery > 0 || s.Lock.Watchdog.Every > 0
	case stepBeforeWrite:
		return c.Workload != "hold" && c.Workload != "misuse"
	}
	return true
}

var (
	stepExtend      = nemesis.StepName(env.StepExtend.String())
	stepGranted     = nemesis.StepName(env.StepGranted.String())
	stepExtended    = nemesis.StepName(env.StepExtended.String())
	stepBeforeWrite = nemesis.StepName(env.StepBeforeWrite.String())
)

// drawCuts cuts off one or two clients from as many nodes as they can spare or, less often,
// from one more.
func drawCuts(d rng, g nemesis.Generator, s scenarios.Scenario) (cuts nemesis.Plan) {
	spare := (s.Nodes - 1) / 2
	if s.Nodes%2 == 0 && d.chance(50) {
		spare = s.Nodes / 2
	} else if d.chance(20) {
		spare++ // one too many: no grant
	}
	if spare == 0 || g.Faults["partition"] == 0 {
		return nil
	}
	nodes, clients := d.Perm(s.Nodes), d.Perm(len(s.Clients))
	for i := range 1 + d.IntN(2) {
		if i == len(clients) {
			break
		}
		off := slices.Clone(nodes[:spare])
		for j := range off {
			off[j]++
		}
		slices.Sort(off)
		links := nemesis.Links{Clients: []int{clients[i] + 1}, Nodes: off}
		cuts = append(cuts, nemesis.Fault{Action: &nemesis.Partition{Links: links}, Start: nemesis.At(0), End: drawEnd(d, s.Lock.TTL)})
		slices.Reverse(nodes) // the other client has another majority
	}
	return cuts
}

// drawEnd draws when a cut ends, or never.
func drawEnd(d rng, ttl time.Duration) *nemesis.Trigger {
	if d.chance(60) {
		return nil
	}
	return nemesis.After(d.between(ttl/4, 3*min(ttl, nemesis.MaxDuration/3)))
}

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
