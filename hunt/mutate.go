package hunt

import (
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/lockstorm/lockstorm/hunt/assume"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/storm"
)

// changing is how often a change is tried that comes to nothing, or to something that
// cannot be.
const changing = 10

// change makes another candidate out of the first of those given, with parts of the
// last. It can be run, and is as much inside the assumptions of something promised as
// one that is drawn. It fails if no change was found to be possible.
func (h Hunt) change(parents []Candidate, random *rand.Rand) (Candidate, storm.Experiment, bool) {
	for range changing {
		m := mutation{hunt: h, random: random, mate: parents[len(parents)-1], Candidate: parents[0]}
		m.Scenario.Plan = m.Scenario.Plan.Clone()
		m.Scenario.Clients = slices.Clone(m.Scenario.Clients)
		m.assumed, m.bound = h.assumed(m.Scenario, random)
		if !m.some() || reflect.DeepEqual(m.Candidate, parents[0]) || !m.fits() {
			continue
		}
		if e, err := storm.Prepare(h.Backend, m.Scenario); err == nil {
			return m.Candidate, e, true
		}
	}
	return Candidate{}, storm.Experiment{}, false
}

// mutation is a candidate that is being changed. Its plan and its list of clients are
// its own.
type mutation struct {
	Candidate
	hunt   Hunt
	mate   Candidate
	random *rand.Rand

	assumed assume.Assumptions // that it keeps to
	bound   bool               // there are any
}

// changes are the ways in which a candidate can be changed, each with how often it is
// taken. They report whether they have changed anything.
var changes = []struct {
	weight int
	make   func(*mutation) bool
}{
	{4, (*mutation).turn},
	{2, (*mutation).retime},
	{1, (*mutation).align},
	{1, (*mutation).replace},
	{3, (*mutation).add},
	{2, (*mutation).drop},
	{4, (*mutation).repeat},
	{1, (*mutation).splice},
	{2, (*mutation).reseed},
	{1, (*mutation).hurry},
	{1, (*mutation).move},
}

// some makes one change, now and then a few.
func (m *mutation) some() bool {
	sum := 0
	for _, c := range changes {
		sum += c.weight
	}
	changed := false
	for {
		at := m.below(sum)
		for _, c := range changes {
			if at -= c.weight; at < 0 {
				changed = c.make(m) || changed
				break
			}
		}
		if m.below(3) > 0 {
			return changed
		}
	}
}

// fits reports whether the plan can be drawn too: it has neither too few faults nor too
// many, they stand beside each other, and the assumptions admit them.
func (m *mutation) fits() bool {
	s := m.Scenario
	if len(s.Plan) == 0 || len(s.Plan) > m.hunt.Most || !s.Plan.Disjoint(s.World()) {
		return false
	}
	return !m.bound || m.assumed.Outside(s) == nil
}

func (m *mutation) below(n int) int { return m.random.IntN(n) }

// fault returns one of the faults, nil if there is none.
func (m *mutation) fault() *nemesis.Fault {
	if len(m.Scenario.Plan) == 0 {
		return nil
	}
	return &m.Scenario.Plan[m.below(len(m.Scenario.Plan))]
}

// drawn returns a fault as the hunt draws them, beside those of a plan.
func (m *mutation) drawn(beside nemesis.Plan, kinds nemesis.Weights) (nemesis.Fault, bool) {
	s := m.Scenario
	s.Plan = beside
	g, err := nemesis.Generator{Faults: kinds, Most: 1}.Only(s.World(), m.hunt.Backend.Ability)
	if err != nil {
		return nemesis.Fault{}, false
	}
	if m.bound {
		g = g.Admitting(func(f nemesis.Fault) bool { return m.assumed.Admits(f, s) })
	}
	drawn := g.Plan(s.World(), s.Lock.TTL, nemesis.Stream(m.random.Uint64(), nemesis.PlanStream))
	if len(drawn) == 0 {
		return nemesis.Fault{}, false
	}
	return drawn[0], true
}

// turn changes one value of a fault: a time, whom it hits, a rate.
func (m *mutation) turn() bool {
	f := m.fault()
	return f != nil && m.one(m.turns(f))
}

// one makes one of the changes, if there are any.
func (m *mutation) one(changes []func()) bool {
	if len(changes) == 0 {
		return false
	}
	changes[m.below(len(changes))]()
	return true
}

// turns returns the changes of each value of a fault alone.
func (m *mutation) turns(f *nemesis.Fault) (turns []func()) {
	f.EachValue(func(name string, value any) {
		if turn := m.turning(name, value); turn != nil {
			turns = append(turns, turn)
		}
	})
	return turns
}

// retime gives a fault the time at which another might begin or end: so an instant
// becomes a step, or a step an instant.
func (m *mutation) retime() bool {
	f := m.fault()
	if f == nil {
		return false
	}
	other, ok := m.drawn(nil, nemesis.Weights{f.Action.Kind(): 1})
	if !ok {
		return false
	}
	if m.below(3) == 0 && (f.End == nil) == (other.End == nil) {
		f.End = other.End
	} else {
		f.Start = other.Start
	}
	return true
}

// align lets a fault begin when another of the plan does.
func (m *mutation) align() bool {
	f, like := m.fault(), m.fault()
	if f == like {
		return false
	}
	f.Start = like.Start
	return true
}

// replace puts a fault of another kind in the place of one, at the same time if it can be.
func (m *mutation) replace() bool {
	f := m.fault()
	if f == nil {
		return false
	}
	other, ok := m.drawn(nil, m.hunt.Faults)
	if !ok {
		return false
	}
	f.Action, f.End = other.Action, other.End
	return true
}

// add adds a fault.
func (m *mutation) add() bool {
	if len(m.Scenario.Plan) >= m.hunt.Most {
		return false
	}
	f, ok := m.drawn(m.Scenario.Plan, m.hunt.Faults)
	if ok {
		m.Scenario.Plan = append(m.Scenario.Plan, f)
	}
	return ok
}

// drop leaves out a fault.
func (m *mutation) drop() bool {
	if len(m.Scenario.Plan) < 2 {
		return false
	}
	i := m.below(len(m.Scenario.Plan))
	m.Scenario.Plan = slices.Delete(m.Scenario.Plan, i, i+1)
	return true
}

// repeat adds a fault that is one of the plan but hits somebody else, or comes at
// another time.
func (m *mutation) repeat() bool {
	if len(m.Scenario.Plan) == 0 || len(m.Scenario.Plan) >= m.hunt.Most {
		return false
	}
	again := nemesis.Plan{*m.fault()}.Clone()
	var elsewhere []func()
	again[0].EachValue(func(name string, value any) {
		if turn := m.turning(name, value); turn != nil && m.numbers(name) > 0 {
			elsewhere = append(elsewhere, turn)
		}
	})
	if len(elsewhere) == 0 {
		elsewhere = m.turns(&again[0])
	}
	if !m.one(elsewhere) {
		return false
	}
	m.Scenario.Plan = append(m.Scenario.Plan, again[0])
	return true
}

// splice takes over faults of the mate, from one of them on, behind some of its own.
func (m *mutation) splice() bool {
	theirs := m.mate.Scenario.Plan.Clone()
	if len(theirs) == 0 || len(m.Scenario.Plan) == 0 {
		return false
	}
	own := m.Scenario.Plan[:1+m.below(len(m.Scenario.Plan))]
	own = slices.Concat(own, theirs[m.below(len(theirs)):])
	m.Scenario.Plan = own[:min(len(own), m.hunt.Most)]
	return true
}

// reseed leaves everything as it is but what is left to chance.
func (m *mutation) reseed() bool {
	m.Seed = m.random.Uint64() >> 32
	return true
}

// hurry changes a time of a client.
func (m *mutation) hurry() bool {
	c := &m.Scenario.Clients[m.below(len(m.Scenario.Clients))]
	r := []*nemesis.Range{&c.Start, &c.Work, &c.Think}[m.below(3)]
	if r.Max == 0 {
		return false
	}
	if m.below(2) == 0 {
		r.Min, r.Max = r.Min/2, r.Max/2
	} else {
		r.Min, r.Max = 2*r.Min, 2*r.Max
	}
	return true
}

// move takes the plan to another scenario of the ground: other lock times, other clients.
func (m *mutation) move() bool {
	plan := m.Scenario.Plan
	m.Scenario = m.hunt.Ground.Draw(m.random)
	m.Scenario.Plan, m.Scenario.Clients = plan, slices.Clone(m.Scenario.Clients)
	return true
}
