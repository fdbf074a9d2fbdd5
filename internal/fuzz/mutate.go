package fuzz

import (
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
)

// changing is how often a change is tried that comes to nothing, or to something that
// cannot be.
const changing = 10

// change makes another candidate out of one. It can be run, and is as much inside the
// assumptions of something promised as one that is drawn. It fails if no change was found
// to be possible.
func (h Hunt) change(parent Candidate, random *rand.Rand) (Candidate, runner.Experiment, bool) {
	for range changing {
		m := mutation{hunt: h, random: random, Candidate: parent}
		m.Scenario.Plan = m.Scenario.Plan.Clone()
		m.assumed, m.bound = h.assumed(m.Scenario, random)
		if !m.some() || reflect.DeepEqual(m.Candidate, parent) || !m.fits() {
			continue
		}
		m.Scenario = h.promisedOnly(m.Scenario)
		if e, err := runner.Prepare(h.Backend, m.Scenario); err == nil {
			return m.Candidate, e, true
		}
	}
	return Candidate{}, runner.Experiment{}, false
}

// mutation is a candidate that is being changed. Its plan is its own.
type mutation struct {
	Candidate
	hunt   Hunt
	random *rand.Rand

	assumed Assumptions // that it keeps to
	bound   bool        // there are any
}

// changes are the ways in which a candidate can be changed, each with how often it is
// taken. They report whether they have changed anything. A part of what came close is
// kept, and the rest drawn as for any candidate, which is aimed: small changes of faults
// find less than that (docs/evidence/hunt.md).
var changes = []struct {
	weight int
	make   func(*mutation) bool
}{
	{8, (*mutation).regrow},
	{2, (*mutation).move},
	{1, (*mutation).turn},
}

// some makes one of the changes.
func (m *mutation) some() bool {
	sum := 0
	for _, c := range changes {
		sum += c.weight
	}
	at := m.below(sum)
	for _, c := range changes {
		if at -= c.weight; at < 0 {
			return c.make(m)
		}
	}
	return false
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

// regrow keeps some of the faults, and draws what goes wrong besides as for a candidate
// that is drawn anew.
func (m *mutation) regrow() bool {
	s := m.Scenario
	m.random.Shuffle(len(s.Plan), func(i, j int) { s.Plan[i], s.Plan[j] = s.Plan[j], s.Plan[i] })
	s.Plan = slices.Clip(s.Plan[:m.below(len(s.Plan)+1)])
	g, err := m.hunt.generator(s)
	if err != nil {
		return false
	}
	admits := func(f nemesis.Fault) bool { return !m.bound || m.assumed.Admits(f, s) }
	if s.Plan = m.hunt.plan(g, s, admits, m.random); m.bound {
		s = m.assumed.Keep(s)
	}
	m.Scenario = s
	return true
}

// move takes the plan to another scenario of the ground: other lock times, other clients.
func (m *mutation) move() bool {
	plan := m.Scenario.Plan
	m.Scenario = m.hunt.Ground.Draw(m.random)
	m.Scenario.Plan = plan
	return true
}
