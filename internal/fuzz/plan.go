package fuzz

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// plan draws what goes wrong in a scenario: as the generator does, and in some draws
// aimed. What the scenario's plan has already stays, and is a part of what is returned.
func (h Hunt) plan(g nemesis.Generator, s scenarios.Scenario, admits func(nemesis.Fault) bool, random *rand.Rand) nemesis.Plan {
	p := planner{
		dice: dice{random}, admits: admits, left: g.Most - len(s.Plan), world: s.World(),
		scale: max(s.LongestTTL(), s.Lock.Quarantine), // before that nobody need have been granted anything
		edges: h.edges(s),
	}
	if h.Guidance != None {
		p.aim(g, s)
	}
	if len(p.world.Plan) == 0 || p.chance(65) { // what else goes wrong can hide it
		p.add(p.drawn(g, p.left, anyFault)...)
	}
	return p.world.Plan
}

// planner is a plan that is being drawn: that of its world.
type planner struct {
	dice
	admits func(nemesis.Fault) bool
	world  nemesis.Setting
	scale  time.Duration // as [nemesis.Generator.Plan] wants it
	left   int           // faults that may still be added
	edges  edges
}

// aim draws faults that go together. One fault rarely shows anything of a lock on a
// majority of the nodes, where the others make up for it; an aimed plan leaves clients no
// more nodes than they need, or half of an even number, or lets most nodes suffer the
// same, or one be wrong from the outset, and lets another fault begin at a moment that
// matters.
func (p *planner) aim(g nemesis.Generator, s scenarios.Scenario) {
	nodal, some := onlyThose(g, ofNodes)
	if s.Lock.Quarantine > 0 && len(p.world.Plan) == 0 && p.chance(40) {
		p.restartMost(g, s)
	} else if most := s.Nodes/2 + 1; p.chance(12) && s.Nodes > 1 && p.left > most && some {
		for _, f := range p.drawn(nodal, 1, func(f nemesis.Fault) bool { return nodeOf(&f) != nil }) {
			p.add(commonCause(p.dice, f, p.world, one(p.dice, most, most, most, s.Nodes/2, max(most-2, 1)))...)
		}
	}
	edgewise := 20
	if runsOut(s) {
		edgewise = 60
	}
	if p.chance(edgewise) {
		p.addEdgewise(g)
	}
	if p.chance(35) && p.left > 2 && len(p.world.Plan) == 0 {
		p.add(drawCuts(p.dice, g, s)...)
	}
	if p.chance(20) && some {
		for _, f := range p.drawn(nodal, 1, anyFault) {
			p.add(fromOutset(p.dice, f, p.world))
		}
	}
	if p.chance(35) {
		from := g
		if clients, some := onlyThose(g, ofClients); some && p.chance(50) {
			from = clients
		}
		p.add(p.drawn(from, 1, func(f nemesis.Fault) bool {
			return slices.Contains(decisive, f.Start.Step) && hitsWhoSteps(f) && comesUp(f.Start, s)
		})...)
	}
}

// restartMost lets most nodes restart alike, and soon come back, when a client has just been
// granted something: that is what a quarantine is there for.
func (p *planner) restartMost(g nemesis.Generator, s scenarios.Scenario) {
	most := s.Nodes/2 + 1
	crashes, some := onlyThose(g, map[nemesis.Kind]bool{"crash": true})
	if !some || p.left < most {
		return
	}
	soon := *p
	soon.scale = s.Lock.TTL / 2
	after := one(p.dice, stepExtended, stepExtended, stepGranted)
	for _, f := range soon.drawn(crashes, 1, func(f nemesis.Fault) bool { return f.Start.Step == after && comesUp(f.Start, s) }) {
		p.add(inNodes(p.dice, f, p.world, most)...)
	}
}

func anyFault(nemesis.Fault) bool { return true }

// drawn are faults as a generator draws them, beside those of the plan.
func (p *planner) drawn(g nemesis.Generator, most int, fit func(nemesis.Fault) bool) nemesis.Plan {
	if g.Most = min(most, p.left); g.Most <= 0 {
		return nil
	}
	admitting := g.Admitting(func(f nemesis.Fault) bool { return p.admits(f) && fit(f) })
	plan := admitting.Plan(p.world, p.scale, nemesis.Stream(p.Uint64(), nemesis.PlanStream))
	for i := range plan {
		if p.edges.near && p.chance(15) {
			beside := p.world
			beside.Plan = slices.Concat(p.world.Plan, plan[:i], plan[i+1:])
			plan[i] = p.edges.moved(p.dice, plan[i], beside)
		}
	}
	return plan
}

// add adds those of the faults that are admitted.
func (p *planner) add(faults ...nemesis.Fault) {
	for _, f := range faults {
		if p.admits(f) {
			p.world.Plan = append(p.world.Plan, f)
			p.left--
		}
	}
}

// hitsWhoSteps reports whether a fault that befalls a client befalls the one at whose step
// it begins: of another that step says little.
func hitsWhoSteps(f nemesis.Fault) bool {
	client := f.Start.Client
	switch a := f.Action.(type) {
	case *nemesis.Pause:
		return a.Client == client
	case *nemesis.Suspend:
		return a.Client == client
	case *nemesis.Kill:
		return a.Client == client
	case *nemesis.Cancel:
		return a.Client == client
	}
	return true
}

// comesUp reports whether a client takes such a step at all: not all extend, or write.
func comesUp(m nemesis.Trigger, s scenarios.Scenario) bool {
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

// drawCuts cuts one client, or two, off from as many nodes as they can do without or, less
// often, from one more.
func drawCuts(d dice, g nemesis.Generator, s scenarios.Scenario) (cuts nemesis.Plan) {
	spare := (s.Nodes - 1) / 2
	if s.Nodes%2 == 0 && d.chance(50) {
		spare = s.Nodes / 2
	} else if d.chance(20) {
		spare++ // one too many: nobody there may be granted anything
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
		slices.Reverse(nodes) // the other has its majority elsewhere
	}
	return cuts
}

// drawEnd lets what is cut stay so, or ends it some time.
func drawEnd(d dice, ttl time.Duration) *nemesis.Trigger {
	if d.chance(60) {
		return nil
	}
	return nemesis.After(d.between(ttl/4, 3*min(ttl, nemesis.MaxDuration/3)))
}

// fromOutset lets a fault be there from the outset, so that all that is asked for and
// granted is so in its presence: for good, or until a client takes a decisive step.
func fromOutset(d dice, f nemesis.Fault, s nemesis.Setting) nemesis.Fault {
	early := f
	early.Start = nemesis.At(0)
	if d.chance(50) {
		return lasting(valid(early, f, s), s)
	}
	step := nemesis.StepName(env.StepGranted.String())
	if d.chance(40) {
		step = one(d, decisive...)
	}
	early.End = &nemesis.Trigger{Client: 1 + d.IntN(s.Clients), Step: step}
	return valid(early, f, s)
}

// valid is the first of two faults if it can be in a setting, beside its plan, and else
// the other.
func valid(f, otherwise nemesis.Fault, s nemesis.Setting) nemesis.Fault {
	if fits(f, s) {
		return f
	}
	return otherwise
}

// fits reports whether a fault can be in a setting, beside its plan.
func fits(f nemesis.Fault, s nemesis.Setting) bool {
	s.Plan = append(slices.Clone(s.Plan), f)
	return s.Validate() == nil && s.Plan.Disjoint(s)
}

// decisive are the steps of a client between which something can come.
var decisive = stepNames(
	env.StepBeforeSend, env.StepReply, env.StepQuorum, env.StepAfterCheck, env.StepGranted,
	env.StepExtend, env.StepExtended, env.StepBeforeWrite, env.StepBeforeRelease,
)

func stepNames(steps ...env.Step) (names []nemesis.StepName) {
	for _, s := range steps {
		names = append(names, nemesis.StepName(s.String()))
	}
	return names
}

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
