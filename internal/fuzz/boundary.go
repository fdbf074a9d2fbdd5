package fuzz

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// edges are where something ends in a scenario: what assumptions admit, or a time that the
// lock counts. Whoever errs there errs by little, and what is drawn from a wide range
// comes near it too seldom.
type edges struct {
	scenario    scenarios.Scenario // without its plan
	assumptions []Assumptions
	times       []time.Duration // that the lock counts
	near        bool            // faults are drawn near them
}

// edges returns those of a scenario: of what the hunt promises of it or, if that is
// promised whatever happens, of what its lock does.
func (h Hunt) edges(s scenarios.Scenario) edges {
	e := edges{scenario: s, times: timesOf(s), near: h.Guidance != None}
	if h.Terms != nil {
		e.assumptions = h.Terms(s).Limited()
	}
	if len(e.assumptions) == 0 {
		e.assumptions = PromisedTerms(s).Limited()
	}
	return e
}

// timesOf are the times that a lock counts, and how much later an answer has to be to come
// after them.
func timesOf(s scenarios.Scenario) (times []time.Duration) {
	l, trip := s.Lock, roundTrip(s)
	all := []time.Duration{
		l.TTL, validity(l), validity(l) - l.Margin, s.LongestTTL(), l.Quarantine,
		l.NodeTimeout, l.NodeTimeout - trip, l.Linger, l.Linger - trip, l.Margin,
		l.Watchdog.Every, l.Heartbeat, l.Grace, l.LockDelay,
	}
	for _, t := range all {
		if t = t.Truncate(time.Microsecond); t > 0 && !slices.Contains(times, t) {
			times = append(times, t)
		}
	}
	return times
}

// addEdgewise adds faults that are there from the outset and all at the edge of what is
// assumed: each alone is within bounds, and the lock has to withstand them together.
func (p *planner) addEdgewise(g nemesis.Generator) {
	if clocks, some := onlyThose(g, ofClocks); some && p.chance(50) {
		g = clocks
	}
	for _, f := range p.drawn(g, 2, p.edges.limits) {
		for _, f := range p.together(p.edges.moved(p.dice, f, p.world)) {
			if p.left > 0 && fits(f, p.world) {
				p.add(f)
			}
		}
	}
}

// together are faults like the given one: it alone, the same of most nodes or, of clocks,
// those of most nodes that err one way, and that of a client the other way.
func (p *planner) together(f nemesis.Fault) []nemesis.Fault {
	most := p.edges.scenario.Nodes/2 + 1
	other, clock := opposite(f)
	if clock && slows(f) && p.chance(50) { // what is set by a fast clock ends first for one that is slow
		f, other = other, f
	}
	switch node := nodeOf(&f); {
	case clock && p.chance(60):
		f, other = ofMachine(f, nemesis.Machine{Node: 1}), ofMachine(other, nemesis.Machine{Client: 1 + p.IntN(one(p.dice, 1, p.world.Clients))})
		return append(commonCause(p.dice, f, p.world, most), fromOutset(p.dice, other, p.world))
	case node != nil && p.chance(50):
		return commonCause(p.dice, f, p.world, most)
	}
	return []nemesis.Fault{fromOutset(p.dice, f, p.world)}
}

// opposite is the fault of a clock that goes as wrong the other way.
func opposite(f nemesis.Fault) (nemesis.Fault, bool) {
	f = nemesis.Plan{f}.Clone()[0]
	switch a := f.Action.(type) {
	case *nemesis.ClockRate:
		a.PPM = -a.PPM
	case *nemesis.ClockSlew:
		a.By = -a.By
	case *nemesis.ClockJump:
		a.By = -a.By
	default:
		return f, false
	}
	return f, true
}

// slows reports whether a fault takes a clock back, or makes it slow.
func slows(f nemesis.Fault) bool {
	switch a := f.Action.(type) {
	case *nemesis.ClockRate:
		return a.PPM < 0
	case *nemesis.ClockSlew:
		return a.By < 0
	case *nemesis.ClockJump:
		return a.By < 0
	}
	return false
}

// ofMachine is the fault of a clock, of another machine's.
func ofMachine(f nemesis.Fault, m nemesis.Machine) nemesis.Fault {
	f = nemesis.Plan{f}.Clone()[0]
	*numberOf(f.Action, "node"), *numberOf(f.Action, "client") = m.Node, m.Client
	return f
}

// limits reports whether some assumption draws a line for a value of a fault.
func (e edges) limits(f nemesis.Fault) bool {
	for _, v := range valuesOf(&f) {
		for _, a := range e.assumptions {
			if _, _, ok := a.Edge(e.scenario, &f, v.at.Interface()); ok {
				return true
			}
		}
	}
	return false
}

// moved is a fault of which one value is moved to an edge, beside the faults of a setting;
// the same fault if there is none, or it cannot be there.
func (e edges) moved(d dice, f nemesis.Fault, beside nemesis.Setting) nemesis.Fault {
	near := nemesis.Plan{f}.Clone()[0]
	var limited, timed []func()
	for _, v := range valuesOf(&near) {
		to := e.line(d, &near, v.at.Interface(), beside.Plan)
		if to != nil {
			limited = append(limited, to)
		} else if at, ok := v.at.Interface().(*time.Duration); ok && *at > 0 && len(e.times) > 0 && v.name != "at" {
			timed = append(timed, func() { *at = time.Duration(d.about(int64(one(d, e.times...)), int64(time.Microsecond))) })
		}
	}
	switch {
	case len(limited) > 0 && (len(timed) == 0 || d.chance(75)):
		one(d, limited...)()
	case len(timed) > 0:
		one(d, timed...)()
	}
	return valid(near, f, beside)
}

// line returns what moves a value of a fault to where one of the assumptions draws a line
// for it, nil if none does.
func (e edges) line(d dice, f *nemesis.Fault, value any, plan nemesis.Plan) func() {
	s := e.scenario
	s.Plan = plan
	for _, i := range d.Perm(len(e.assumptions)) {
		inside, outside, ok := e.assumptions[i].Edge(s, f, value)
		if !ok {
			continue
		}
		switch at := value.(type) {
		case *int64:
			return func() { *at = d.beside(inside, outside, 1) }
		case *time.Duration:
			return func() { *at = time.Duration(d.beside(inside, outside, int64(time.Microsecond))) }
		}
	}
	return nil
}

// beside draws the last that is inside or, less often, a little less, the first that is
// outside or a little more.
func (d dice) beside(inside, outside, unit int64) int64 {
	away := (outside - inside) / unit * max(d.Int64N(max(inside/64, -inside/64, unit)+1), unit)
	switch k := d.IntN(10); {
	case k < 5:
		return inside
	case k < 8:
		return inside - away/unit*unit
	case k < 9:
		return outside
	}
	return outside + away/unit*unit
}

// about draws a time or, less often, a little less or more.
func (d dice) about(at, unit int64) int64 {
	away := max(d.Int64N(at/64+1), unit) / unit * unit
	return at + one(d, 0, 0, -unit, unit, -away, away)
}
