package fuzz

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
)

// mutationTries is how often a mutation is tried that changes nothing or is invalid.
const mutationTries = 10

// mutate makes a candidate out of another. It keeps the assumptions of a promised property,
// like a newly drawn one. It returns false if it finds no valid mutation.
func (h Hunt) mutate(parent Candidate, random *rand.Rand) (Candidate, runner.Experiment, bool) {
	for range mutationTries {
		m := mutation{hunt: h, random: random, Candidate: parent}
		m.Scenario.Plan = m.Scenario.Plan.Clone()
		m.assumed, m.limited = h.assumed(m.Scenario, random)
		if !m.apply() || reflect.DeepEqual(m.Candidate, parent) || !m.fits() {
			continue
		}
		m.Scenario = h.withPromisedBounds(m.Scenario)
		if e, err := runner.Prepare(h.Backend, m.Scenario); err == nil {
			return m.Candidate, e, true
		}
	}
	return Candidate{}, runner.Experiment{}, false
}

// mutation is a candidate being mutated. It owns its plan.
type mutation struct {
	Candidate
	hunt   Hunt
	random *rand.Rand

	assumed promises.Assumptions // that it keeps
	limited bool                 // there are any
}

// mutations are the kinds of mutations with their weights. They report whether they have
// changed anything. The heaviest keeps a part of the plan and draws the rest as for any
// candidate, which is aimed: small changes of faults find less (docs/evidence/hunt.md).
var mutations = []struct {
	weight int
	make   func(*mutation) bool
}{
	{8, (*mutation).regrow},
	{2, (*mutation).changeScenario},
	{1, (*mutation).changeValue},
}

// apply makes one of the mutations.
func (m *mutation) apply() bool {
	sum := 0
	for _, c := range mutations {
		sum += c.weight
	}
	at := m.intN(sum)
	for _, c := range mutations {
		if at -= c.weight; at < 0 {
			return c.make(m)
		}
	}
	return false
}

// fits reports whether the plan is valid: not empty, not too long, its faults compatible with
// each other, and inside the assumptions.
func (m *mutation) fits() bool {
	s := m.Scenario
	if len(s.Plan) == 0 || len(s.Plan) > m.hunt.MaxFaults || !s.Plan.Disjoint(s.World()) {
		return false
	}
	return !m.limited || m.assumed.Outside(s) == nil
}

func (m *mutation) intN(n int) int { return m.random.IntN(n) }

// fault returns one of the faults, or nil if there is none.
func (m *mutation) fault() *nemesis.Fault {
	if len(m.Scenario.Plan) == 0 {
		return nil
	}
	return &m.Scenario.Plan[m.intN(len(m.Scenario.Plan))]
}

// regrow keeps some of the faults, and draws others as for a new candidate.
func (m *mutation) regrow() bool {
	s := m.Scenario
	m.random.Shuffle(len(s.Plan), func(i, j int) { s.Plan[i], s.Plan[j] = s.Plan[j], s.Plan[i] })
	s.Plan = slices.Clip(s.Plan[:m.intN(len(s.Plan)+1)])
	g, err := m.hunt.generator(s)
	if err != nil {
		return false
	}
	admits := func(f nemesis.Fault) bool { return !m.limited || m.assumed.Admits(f, s) }
	if s.Plan = m.hunt.plan(g, s, admits, m.random); m.limited {
		s = m.assumed.Keep(s)
	}
	m.Scenario = s
	return true
}

// changeScenario moves the plan to another scenario of the search space, with other lock times
// and clients.
func (m *mutation) changeScenario() bool {
	plan := m.Scenario.Plan
	m.Scenario = m.hunt.Space.Draw(m.random)
	m.Scenario.Plan = plan
	return true
}

// changeValue changes one value of a fault: a time, a target, a rate. It mostly changes the
// same value of similar faults too, so that a common cause stays common.
func (m *mutation) changeValue() bool {
	f := m.fault()
	if f == nil {
		return false
	}
	before := nemesis.Plan{*f}.Clone()[0]
	own, old := valuesOf(f), valuesOf(&before)
	i := m.intN(len(own))
	turn := m.valueChange(own[i].name, own[i].at.Interface())
	if turn == nil {
		return false
	}
	turn()
	if m.population(own[i].name) > 0 || m.intN(4) == 0 {
		return true
	}
	for j := range m.Scenario.Plan {
		g := &m.Scenario.Plan[j]
		if v := valuesOf(g); g.Action.Kind() == f.Action.Kind() && len(v) == len(old) && v[i].name == old[i].name && reflect.DeepEqual(v[i].at.Interface(), old[i].at.Interface()) {
			v[i].at.Elem().Set(own[i].at.Elem())
		}
	}
	return true
}

// value is a value of a fault.
type value struct {
	name string
	at   reflect.Value // a pointer to it
}

func valuesOf(f *nemesis.Fault) (all []value) {
	f.EachValue(func(name string, at any) { all = append(all, value{name, reflect.ValueOf(at)}) })
	return all
}

// valueChange returns a function that changes a value of a fault, or nil: a value of 0 means
// none, or the default.
func (m *mutation) valueChange(name string, value any) func() {
	switch v := value.(type) {
	case *int:
		of := m.population(name)
		switch {
		case of == 0:
			return changeNumber(m, v, 1)
		case of > 1 && *v > 0:
			return func() { *v = 1 + (*v+m.intN(of-1))%of }
		}
	case *int64:
		return changeNumber(m, v, 1)
	case *time.Duration:
		if *v == 0 && name == "after" {
			return func() { *v = m.Scenario.Lock.TTL >> m.intN(8) }
		}
		return changeNumber(m, v, time.Microsecond)
	case *[]int:
		if of := m.population(name); of > 1 {
			return func() { *v = m.toggled(*v, of) }
		}
	}
	return nil
}

// changeNumber returns a function that halves or doubles a number, or changes it slightly, by
// multiples of unit.
func changeNumber[T int | int64 | time.Duration](m *mutation, v *T, unit T) func() {
	if *v == 0 {
		return nil
	}
	return func() {
		switch old := *v; m.intN(5) {
		case 0, 1:
			*v = old / 2
		case 2, 3:
			*v = old * 2
		default:
			*v = old + max(old/8, unit)*T(2*m.intN(2)-1)
		}
		if abs := max(*v, -*v); abs > unit {
			*v -= *v % unit // readable times
		}
	}
}

// population returns how many nodes or clients a field of that name can name; 0: it names
// neither.
func (m *mutation) population(name string) int {
	switch name {
	case "node", "nodes":
		return m.Scenario.Nodes
	case "client", "clients":
		return len(m.Scenario.Clients)
	}
	return 0
}

// toggled returns a list of numbers out of 1 to n with one added or removed. An empty list
// means all.
func (m *mutation) toggled(list []int, n int) []int {
	if i := 1 + m.intN(n); slices.Contains(list, i) {
		return slices.DeleteFunc(slices.Clone(list), func(j int) bool { return i == j })
	} else if list = append(slices.Clone(list), i); len(list) < n {
		slices.Sort(list)
		return list
	}
	return nil
}
