package hunt

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// plan draws what goes wrong in a scenario: as the generator does, and in some draws
// aimed. One fault rarely shows anything of a lock on a majority of the nodes, where the
// others make up for it; an aimed plan leaves clients no more nodes than they need, or
// half of an even number, or lets most nodes suffer the same, and lets another fault begin
// at a moment that matters.
func plan(g nemesis.Generator, s scenarios.Scenario, admits func(nemesis.Fault) bool, random *rand.Rand) nemesis.Plan {
	d, world := dice{random}, s.World()
	scale := max(s.LongestTTL(), s.Lock.Quarantine) // before that nobody need have been granted anything
	left := g.Most
	draw := func(most int, admits func(nemesis.Fault) bool) {
		if g.Most = min(most, left); g.Most > 0 {
			drawn := g.Within(admits).Plan(world, scale, nemesis.Stream(random.Uint64(), nemesis.PlanStream))
			world.Plan = slices.Concat(world.Plan, drawn)
			left -= len(drawn)
		}
	}
	if most := s.Nodes/2 + 1; d.chance(8) && s.Nodes > 1 && left > most {
		draw(1, func(f nemesis.Fault) bool { return admits(f) && nodeOf(&f) != nil })
		if len(world.Plan) == 1 {
			world.Plan = admitted(commonCause(d, world.Plan[0], world, most), admits)
			left -= len(world.Plan) - 1
		}
	}
	if d.chance(35) && left > 2 && len(world.Plan) == 0 {
		world.Plan = admitted(drawCuts(d, g, s), admits)
		left -= len(world.Plan)
	}
	if d.chance(35) {
		draw(1, func(f nemesis.Fault) bool {
			return admits(f) && slices.Contains(decisive, f.Start.Step) && hitsWhoSteps(f) && comesUp(f.Start, s)
		})
	}
	draw(left, admits)
	return world.Plan
}

func admitted(p nemesis.Plan, admits func(nemesis.Fault) bool) nemesis.Plan {
	return slices.DeleteFunc(p, func(f nemesis.Fault) bool { return !admits(f) })
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
func comesUp(m nemesis.Moment, s scenarios.Scenario) bool {
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
	stepExtended    = nemesis.StepName(env.StepExtended.String())
	stepBeforeWrite = nemesis.StepName(env.StepBeforeWrite.String())
)

// drawCuts cuts one client, or two, off from as many nodes as they can do without.
func drawCuts(d dice, g nemesis.Generator, s scenarios.Scenario) (cuts nemesis.Plan) {
	spare := (s.Nodes - 1) / 2
	if s.Nodes%2 == 0 && d.chance(50) {
		spare = s.Nodes / 2
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
func drawEnd(d dice, ttl time.Duration) *nemesis.Moment {
	if d.chance(60) {
		return nil
	}
	return nemesis.After(d.between(ttl/4, 3*ttl))
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
