package nemesis

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/form"
)

// Generator generates plans. It is data, as a plan is: the same generator, setting
// and seed give the same plan on every machine.
type Generator struct {
	// Faults are the weights of the kinds of faults, 0 to 9: how often each is
	// drawn relative to the others. "all" stands for the kinds that are not
	// named. None: all alike.
	Faults Weights `yaml:"faults,flow,omitempty"`

	// Most is the largest number of generated faults in a run.
	Most int `yaml:"most" want:"1..99"`

	// NoSwarm makes every plan draw from all kinds that have a weight.
	// Otherwise each plan first selects some of them and leaves out the
	// others, because many failures only occur if something else
	// does not (Groce et al., Swarm Testing, ISSTA 2012).
	NoSwarm bool `yaml:"no_swarm,omitempty"`

	able   *Ability         // that it is limited to; nil: it may ask for any feature
	admits func(Fault) bool // which faults it may draw; nil: any
}

// GeneratorVersion is the version of the plans: it is counted up when the same
// generator, setting and seed come to give other plans. More kinds of faults
// do not change the plans of a generator that names its kinds.
const GeneratorVersion = 2

// MostFaults is the largest number of faults that a plan can be asked for.
const MostFaults = 99

// window is the time in which timed faults start, in scales: a client that locks once is done after
// one or two TTLs, one that competes after some more. Faults that start at steps cover later times.
const window = 3

// fitting is how often a fault is drawn anew that does not fit into the plan.
const fitting = 10

// Validate returns a [FieldError] for the first value that cannot be.
func (g Generator) Validate() error { return form.Check(&g) }

// Consistent returns an error for the first weight that cannot be.
func (g Generator) Consistent() error { return field("faults", g.Faults.Validate()) }

// Only returns the generator with a weight for each kind that it draws in a
// setting, on a backend that can do no more than it is able to. It is an error
// if it names a kind that is impossible there, or if no kind is left.
func (g Generator) Only(s Setting, able Ability) (Generator, error) {
	only, err := g.Faults.Only(s, able)
	g.Faults, g.able = only, &able
	return g, field("faults", err)
}

// Admitting returns the generator that draws no fault but those which are admitted,
// and so fewer where few are.
func (g Generator) Admitting(admits func(Fault) bool) Generator {
	g.admits = admits
	return g
}

// Plan draws 1 to Most faults that are compatible with the setting's plan, fewer if no more fit.
// Generator and setting must be valid, and some kind possible in the setting ([Generator.Only]).
// scale is about the time that a fault has to last to matter, at least 1 ms: the TTL of the lock.
//
// No two faults of the plan can hold the same target at the same time, whatever the clients do: a
// target is held twice only if the times of both faults are known and disjoint.
func (g Generator) Plan(s Setting, scale time.Duration, random *rand.PCG) Plan {
	params := newParamGenerator(s, scale, random)
	kinds := g.enabled(params)
	all := slices.Clone(s.Plan)
	for range 1 + params.below(g.Most) {
		if f, ok := g.fitting(params, kinds, all); ok {
			all = append(all, f)
		}
	}
	return all[len(s.Plan):]
}

// enabled returns the kinds that one plan draws from, each as often as its
// weight says.
func (g Generator) enabled(params *paramGenerator) []Action {
	var able []Action
	for _, k := range Actions() {
		if g.Faults.Of(k.Kind()) > 0 && unmetRequirement(k, params.setting) == nil {
			able = append(able, k)
		}
	}
	if !g.NoSwarm && len(able) > 0 {
		var some []Action
		for _, i := range Each(params.some(len(able)), len(able)) {
			some = append(some, able[i-1])
		}
		able = some
	}
	var weighted []Action
	for _, k := range able {
		for range g.Faults.Of(k.Kind()) {
			weighted = append(weighted, k)
		}
	}
	return weighted
}

// fitting draws a fault that fits beside those of a plan, if it finds one.
func (g *Generator) fitting(params *paramGenerator, kinds []Action, plan Plan) (Fault, bool) {
	for tries := 0; tries < fitting && len(kinds) > 0; tries++ {
		action, able := g.within(params, kinds)
		if !able {
			break
		}
		f := Fault{Action: action, Start: params.start(), End: params.end(action.ending())}
		if (g.admits == nil || g.admits(f)) && plan.hasRoom(&f, params.setting) {
			return f, true
		}
	}
	return Fault{}, false
}

// within draws a fault's parameters that the backend can show, if it finds some.
func (g *Generator) within(params *paramGenerator, kinds []Action) (Action, bool) {
	for range 10 * fitting {
		action := kinds[params.below(len(kinds))].random(params)
		if g.able == nil || g.able.missing(action) == "" {
			return action, true
		}
	}
	return nil, false
}

// start draws an instant or, as often, a client's step.
func (g *paramGenerator) start() Trigger {
	if g.chance(50) {
		return At(round(g.upTo(min(window*min(g.scale, maxScale/window), g.setting.Horizon))))
	}
	steps := env.Steps()
	m := When(g.client(), steps[g.below(len(steps))], 0)
	if m.Step == StepName(env.StepReply.String()) && g.chance(50) {
		m.K = 1 + g.below(g.setting.Nodes)
	}
	if g.chance(50) {
		m.Count = 1 + g.below(3)
	}
	if g.chance(25) {
		m.Plus = round(g.length())
	}
	return m
}

// end draws the end of a fault: never, at once or after a while.
func (g *paramGenerator) end(e ending) *Trigger {
	switch {
	case e.forbidden != "" || e.automatic != "":
		return nil
	case !e.required && g.chance(15):
		return nil
	case g.chance(10):
		return After(0)
	}
	return After(round(g.length()))
}

// hasRoom reports whether a fault cannot come to hold a target at the same
// time as one of the plan.
func (p Plan) hasRoom(f *Fault, s Setting) bool {
	own := f.Claims(s)
	return !slices.ContainsFunc(p, func(g Fault) bool {
		shares := slices.ContainsFunc(g.Claims(s), func(target string) bool { return slices.Contains(own, target) })
		return shares && !f.surelyBefore(&g) && !g.surelyBefore(f)
	})
}

// Disjoint reports whether no two faults of a valid plan can come to hold the same
// target at the same time, whatever the clients do. A plan that is not may end in an
// error of the run, though the times that are known of it are apart.
func (p Plan) Disjoint(s Setting) bool {
	for _, faults := range p.claims(s).holders() {
		if len(faults) > 1 && slices.ContainsFunc(faults, func(i int) bool { return !p[i].Start.Timed() }) {
			return false
		}
		if !p.inTurn(faults, (*Fault).surelyBefore) {
			return false
		}
	}
	return true
}

// surelyBefore reports whether it is known before the run that f is over when
// g begins. Of two that begin at one instant neither is.
func (f *Fault) surelyBefore(g *Fault) bool {
	return f.Start.Timed() && g.Start.Timed() && f.Start.At < g.Start.At && f.endsBefore(g, false)
}
