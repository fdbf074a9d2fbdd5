package conform

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// Outcome is that of one run.
type Outcome struct {
	Steps map[string]int // that were compared, by kind

	// Mismatches are the steps that the specification does not have. Up to the first one the run is one of
	// the specification; after it only the guards of single steps say anything.
	Mismatches []Mismatch

	beyond bool // there is a mismatch, and not only a counter that a node has forgotten
}

// Mismatch is a step of a run that is no step of the specification, or after which the invariant does not
// hold.
type Mismatch struct {
	At    history.Time
	Event string   // that shows it
	Step  string   // of the specification
	Wrong []string // the guards that do not hold, or the parts of the invariant
}

func (m Mismatch) String() string {
	return fmt.Sprintf("%v: %s: %s: %s", m.At, m.Event, m.Step, strings.Join(m.Wrong, ", "))
}

// Assumptions returns the names of the assumptions that a run breaks, as in assumptions.dfy, in their order.
func (o Outcome) Assumptions() (names []string) {
	for _, m := range o.Mismatches {
		for _, name := range m.Wrong {
			if assumption.MatchString(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// assumption matches the names of assumptions.
var assumption = regexp.MustCompile(`^[AF]\d`)

// claimed is the guard that transcribes the premise of the lemma DriftFactor (clocks.dfy): what a client claims
// of a TTL is what the allowance leaves of it.
const claimed = "DriftFactor"

// replay replays a run.
func replay(r *Recorder) Outcome {
	steps := plan(r)
	o := Outcome{Steps: map[string]int{}}
	quiet := Time(0)
	for _, s := range steps {
		if s.kind == sending {
			quiet = max(quiet, s.round.lease)
		}
	}
	if wrong := failing(guard{"A1", A1(r.header.Electorate())}); len(wrong) > 0 {
		o.mismatch(Mismatch{0, "the quorums of the run", "the configuration", wrong})
	}
	machines, counters := map[string]*machine{}, map[string]*fences{}
	for i := range steps {
		s := &steps[i]
		if s.kind == "" {
			continue
		}
		m := machines[s.resource]
		if m == nil {
			m = newMachine(r.header.Electorate(), quiet)
			machines[s.resource] = m
		}
		wrong := []string{}
		if d := s.at - m.now; d > 0 && s.kind != change { // which is of no try
			o.Steps[string(tick)]++
			wrong = append(m.Tick(d), o.invariant(m)...)
		}
		if s.counter == "" {
			wrong = append(wrong, r.step(m, s)...)
			wrong = append(wrong, o.invariant(m)...)
			o.Steps[string(s.kind)]++
		} else {
			f := counters[s.counter]
			if f == nil {
				f = newFences()
				counters[s.counter] = f
			}
			wrong = append(wrong, o.fencesStep(f, m, s)...)
		}
		if len(wrong) > 0 {
			o.mismatch(Mismatch{history.Time(s.at), s.what, string(s.kind), wrong})
		}
	}
	return o
}

func (o *Outcome) mismatch(m Mismatch) {
	o.Mismatches = append(o.Mismatches, m)
	o.beyond = o.beyond || !m.Forgets()
}

// Forgets reports whether the step shows only that a node has forgotten a counter (F1). Nothing is proved of
// fences then, and as much of the lock as before.
func (m Mismatch) Forgets() bool { return len(m.Wrong) == 1 && m.Wrong[0] == "F1" }

// invariant returns what does not hold of the invariant. After a mismatch that is no wonder.
func (o *Outcome) invariant(m *machine) []string {
	if o.beyond {
		return nil
	}
	return m.Inv()
}

// fencesStep carries out a step of fences. A request that raises a counter when its draw has gone on is a
// Change.
func (o *Outcome) fencesStep(f *fences, m *machine, s *step) (wrong []string) {
	if f.forgot {
		return nil
	}
	d := 0
	if s.try != nil {
		f.lock, d = m, s.try.draw.number
	}
	if s.kind == raise && (f.draws[d].phase != raising || f.draws[d].next != s.number) {
		s.kind = change
	}
	o.Steps[string(s.kind)]++
	switch s.kind {
	case beginDraw:
		i := s.try.set.number
		d, wrong = f.BeginDraw(i)
		s.try.draw.number = d
		if len(wrong) > 0 && wrong[0] == "Holds" && !m.HasQuorum(m.rounds[i].votes) {
			wrong = append(withheld(m, s.try.set), wrong...)
		}
	case count:
		wrong = f.Count(d, s.node)
	case choose:
		wrong = f.Choose(d, s.number)
	case raise:
		wrong = f.Raise(d, s.node)
	case change:
		wrong = f.Change(s.node, s.number)
		f.forgot = len(wrong) > 0
		return wrong
	case endDraw:
		wrong = append(f.EndDraw(d), failing(guard{"the fence is the number drawn", f.draws[d].next == s.number})...)
	}
	if o.beyond {
		return wrong
	}
	return append(wrong, f.FencesInv(d)...)
}

// step carries a step out.
func (r *Recorder) step(m *machine, s *step) (wrong []string) {
	switch s.kind {
	case begin:
		s.try.number, wrong = m.Begin(s.try.token)
	case sending:
		s.round.number, wrong = m.Send(s.try.number, s.round.read, s.round.lease, s.round.keep)
		wrong = append(wrong, r.claim(s.round)...)
	case set:
		wrong = r.set(m, s)
	case extend:
		wrong = r.extend(m, s)
	case drop:
		wrong = m.Drop(s.node)
	case grant:
		wrong = m.Grant(s.round.number)
		if len(wrong) > 0 && wrong[0] == "HasQuorum" {
			wrong = append(withheld(m, s.round), wrong[1:]...)
		}
	case giveUp:
		wrong = m.GiveUp(s.try.number)
	case deletion:
		wrong = m.Delete(s.try.number, s.node)
	case revert:
		p := stored{s.node, key{token: s.version.token, expires: s.version.expires}}
		if s.version.of != nil {
			p.key = s.version.of.key
		}
		s.version.key = p.key
		wrong = m.Revert(p, s.since)
	case empty:
		wrong = m.Empty(s.node, s.since)
	case stray:
		wrong = []string{"no counterpart"}
	}
	return wrong
}

// claim checks what a client claims of a granted round, on its own clock.
func (r *Recorder) claim(p *roundPlan) []string {
	if p.granted == 0 || p.until == 0 {
		return nil
	}
	return failing(guard{claimed, p.until-p.clock <= int64(p.ttl-r.lock.Allowance(p.ttl))})
}

// set and extend let a vote count if it may: in the specification the votes of a run are then as many as they
// can be, so a grant without a quorum of them has none in any case.

func (r *Recorder) set(m *machine, s *step) []string {
	counts := m.A4Quiet(s.node)
	if !counts {
		s.round.withheld[s.node] = "A4Quiet"
	}
	wrong := m.Set(s.round.number, s.node, s.version.expires, counts)
	s.version.key = m.key[s.node]
	return wrong
}

func (r *Recorder) extend(m *machine, s *step) []string {
	counts := m.A4Extends(s.node, m.key[s.node])
	if !counts {
		s.round.withheld[s.node] = "A4Extends"
	}
	wrong := m.Extend(s.round.number, s.node, s.version.expires, counts)
	s.version.key = m.key[s.node]
	return wrong
}

// withheld returns why a granted round has no quorum: the assumptions without which it would have one.
func withheld(m *machine, r *roundPlan) []string {
	votes := m.rounds[r.number].votes
	var names []string
	for n, name := range r.withheld {
		votes |= bit(n)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if !m.HasQuorum(votes) {
		return []string{"HasQuorum"}
	}
	slices.Sort(names)
	return names
}
