package hunt

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// drawPlan draws the faults of a scenario: with the generator and, in some draws, aimed.
func drawPlan(g nemesis.Generator, s scenarios.Scenario, near boundaries, admits func(nemesis.Fault) bool, random *rand.Rand) nemesis.Plan {
	p := planner{
		rng: rng{random}, admits: admits, left: g.Most, world: s.World(),
		scale:      max(s.LongestTTL(), s.Lock.Quarantine), // earlier, nobody may have been granted anything
		boundaries: near,
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

// addAtBoundaries adds faults that exist from the start and are all at the limit of the
// assumptions. The lock has to withstand each of them and all together.
func (p *planner) addAtBoundaries(g nemesis.Generator) {
	if clocks, some := onlyKinds(g, clockKinds); some && p.chance(50) {
		g = clocks
	}
	for _, f := range p.draw(g, 2, p.boundaries.hasLimit) {
		for _, f := range p.variants(p.boundaries.moveTo(p.rng, f, p.world)) {
			if p.left > 0 && fits(f, p.world) {
				p.add(f)
			}
		}
	}
}

// variants returns f alone, or f on most nodes; for clocks, f on most nodes and the opposite
// error on a client.
func (p *planner) variants(f nemesis.Fault) []nemesis.Fault {
	most := p.boundaries.scenario.Nodes/2 + 1
	other, clock := opposite(f)
	if clock && slows(f) && p.chance(50) { // a fast clock before a slow one
		f, other = other, f
	}
	switch node := nodeOf(&f); {
	case clock && p.chance(60):
		f, other = ofMachine(f, nemesis.Machine{Node: 1}), ofMachine(other, nemesis.Machine{Client: 1 + p.IntN(pick(p.rng, 1, p.world.Clients))})
		return append(commonCause(p.rng, f, p.world, most), fromStart(p.rng, other, p.world))
	case node != nil && p.chance(50):
		return commonCause(p.rng, f, p.world, most)
	}
	return []nemesis.Fault{fromStart(p.rng, f, p.world)}
}
