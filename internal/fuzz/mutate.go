package fuzz

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

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

// turn changes one value of a fault, a time, whom it hits, a rate, and mostly that of
// faults that are like it in this: what befalls many nodes alike still does.
func (m *mutation) turn() bool {
	f := m.fault()
	if f == nil {
		return false
	}
	before := nemesis.Plan{*f}.Clone()[0]
	own, old := valuesOf(f), valuesOf(&before)
	i := m.below(len(own))
	turn := m.turning(own[i].name, own[i].at.Interface())
	if turn == nil {
		return false
	}
	turn()
	if m.numbers(own[i].name) > 0 || m.below(4) == 0 {
		return true
	}
	for j := range m.Scenario.Plan {
		g := &m.Scenario.Plan[j]
		if v := valuesOf(g); g.Action.Kind() == f.Action.Kind() && len(v) == len(old) && v[i].equal(old[i]) {
			v[i].at.Elem().Set(own[i].at.Elem())
		}
	}
	return true
}

// value is one of a fault.
type value struct {
	name string
	at   reflect.Value // a pointer to it
}

func (v value) equal(w value) bool {
	return v.name == w.name && reflect.DeepEqual(v.at.Interface(), w.at.Interface())
}

func valuesOf(f *nemesis.Fault) (all []value) {
	f.EachValue(func(name string, at any) { all = append(all, value{name, reflect.ValueOf(at)}) })
	return all
}

// turning returns what changes a value of a fault, nil where there is nothing to
// change: what is 0 stands for nothing, or for the usual.
func (m *mutation) turning(name string, value any) func() {
	switch v := value.(type) {
	case *int:
		of := m.numbers(name)
		switch {
		case of == 0:
			return turnNumber(m, v, 1)
		case of > 1 && *v > 0:
			return func() { *v = 1 + (*v+m.below(of-1))%of }
		}
	case *int64:
		return turnNumber(m, v, 1)
	case *time.Duration:
		if *v == 0 && name == "after" {
			return func() { *v = m.Scenario.Lock.TTL >> m.below(8) }
		}
		return turnNumber(m, v, time.Microsecond)
	case *[]int:
		if of := m.numbers(name); of > 1 {
			return func() { *v = m.others(*v, of) }
		}
	}
	return nil
}

// turnNumber returns what halves or doubles a number, or makes it a little larger or
// smaller, by steps of unit.
func turnNumber[T int | int64 | time.Duration](m *mutation, v *T, unit T) func() {
	if *v == 0 {
		return nil
	}
	return func() {
		switch old := *v; m.below(5) {
		case 0, 1:
			*v = old / 2
		case 2, 3:
			*v = old * 2
		default:
			*v = old + max(old/8, unit)*T(2*m.below(2)-1)
		}
		if abs := max(*v, -*v); abs > unit {
			*v -= *v % unit // times that are easy to read
		}
	}
}

// numbers returns how many there are of whom a number or a list of numbers names; 0: it
// names nobody.
func (m *mutation) numbers(name string) int {
	switch name {
	case "node", "nodes":
		return m.Scenario.Nodes
	case "client", "clients":
		return len(m.Scenario.Clients)
	}
	return 0
}

// others returns a list of numbers out of 1 to n with one more or one less than the
// given, of which an empty one means all.
func (m *mutation) others(list []int, n int) []int {
	if i := 1 + m.below(n); slices.Contains(list, i) {
		return slices.DeleteFunc(slices.Clone(list), func(j int) bool { return i == j })
	} else if list = append(slices.Clone(list), i); len(list) < n {
		slices.Sort(list)
		return list
	}
	return nil
}
