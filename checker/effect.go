package checker

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

// Effect says that the guarded resource is as if its accepted sections had run
// one after another.
const Effect Property = "effect"

// effect judges whether the guarded resource is as if its accepted sections
// had run one after another. The sections of a resource are cut into segments
// at quiescent points, so that the cost stays linear: see [register].
type effect struct {
	ledger  *ledger
	notes   *notes
	leaving []*hold   // whose release has returned in this instant
	dying   []*client // in this instant

	writes    int
	sections  int // accepted
	count     int
	first     string
	doubt     string // why some segment could not be decided
	where     *Place // what first is about
	uncertain *Place // what doubt is about

	each func(Access) // nil: nobody wants to be told
}

func newEffect(_ history.Header, l *ledger, n *notes) judge { return &effect{ledger: l, notes: n} }

func (*effect) hears() kinds {
	return kindSet(history.Read, history.ReadDone, history.Write, history.WriteDone, history.Released, history.Kill)
}

func (j *effect) observe(f *fact) {
	s := f.section
	switch f.Kind {
	case history.Read:
		j.replace(f.client, s)
		j.open(s)
	case history.ReadDone:
		if s != nil && f.Outcome != history.OK {
			s.resource.register.open--
		}
	case history.Write:
		j.writes++
		if s.blind {
			j.open(s)
		}
	case history.WriteDone:
		j.written(s, f.Outcome)
	case history.Released:
		if f.hold != nil {
			j.leaving = append(j.leaving, f.hold)
		}
	case history.Kill:
		j.dying = append(j.dying, f.client)
	}
}

// open enters a new section, whose call may show that the resource was
// quiescent until now.
func (j *effect) open(s *section) {
	r := &s.resource.register
	if r.quiescent(s.call) {
		j.judge(s.resource)
	}
	r.open++
}

func (j *effect) written(s *section, o history.Outcome) {
	if s == nil {
		return
	}
	r := &s.resource.register
	r.open--
	if j.each != nil && o != history.Declined {
		j.each(s.told(o))
	}
	switch o {
	case history.OK:
		j.sections++
		if !r.accept(s) {
			j.giveUp(s.resource)
		}
	case history.Unknown:
		r.unknown = append(r.unknown, s)
	}
}

// replace drops a section that its client has left without a write, to begin
// another one.
func (j *effect) replace(c *client, by *section) {
	for _, s := range c.sections {
		if s != by && s.stage != writing && s.token == by.token && s.resource == by.resource {
			j.drop(c, s)
			return
		}
	}
}

func (j *effect) drop(c *client, s *section) {
	c.sections = remove(c.sections, s)
	s.resource.register.open--
}

// settle drops the sections that will not come to a write, because their lock
// was released or their client has died. A dead client's write may still
// arrive.
func (j *effect) settle() {
	for _, h := range j.leaving {
		j.leave(h.client, func(s *section) bool { return s.token == h.token && s.resource == h.resource })
	}
	for _, c := range j.dying {
		j.leave(c, func(*section) bool { return true })
		j.surrender(c)
	}
	j.leaving, j.dying = j.leaving[:0], j.dying[:0]
}

func (j *effect) leave(c *client, which func(*section) bool) {
	for i := len(c.sections) - 1; i >= 0; i-- {
		if s := c.sections[i]; s.stage != writing && which(s) {
			j.drop(c, s)
		}
	}
}

// surrender makes the outcome of the client's open writes unknown.
func (j *effect) surrender(c *client) {
	for len(c.sections) > 0 {
		s := c.sections[len(c.sections)-1]
		j.drop(c, s)
		if s.stage == writing {
			s.resource.register.unknown = append(s.resource.register.unknown, s)
			if j.each != nil {
				j.each(s.told(history.Unknown))
			}
		}
	}
}

// judge decides the resource's segment and begins the next one.
func (j *effect) judge(r *resource) {
	g := &r.register
	if len(g.segment) == 0 || g.lost {
		return
	}
	switch found := g.decide(); found {
	case illegal:
		j.violate(r)
	case undecided:
		j.hesitate(r, fmt.Sprintf("the search for an order of %s of %q, from %s to %s, was given up: it takes more than %s, or there are more than %d unknown writes",
			counted(len(g.segment), "section"), r.name, at(g.segment[0].call), at(g.last), searchLimit, maxUnknown))
		g.lost = true
	}
	g.next()
}

func (j *effect) violate(r *resource) {
	j.count++
	if j.first == "" {
		j.first, j.where = j.explain(r)
	}
}

func (j *effect) hesitate(r *resource, why string) {
	if j.doubt == "" {
		j.doubt, j.uncertain = why, placeOf(r.name, r.register.segment)
	}
}

// giveUp ends the judging of a resource whose sections overlap without end,
// unless a count is enough to refute them.
func (j *effect) giveUp(r *resource) {
	g := &r.register
	if g.lost {
		return
	}
	perhaps := append([]*section(nil), g.unknown...)
	for _, c := range j.ledger.clients {
		for _, s := range c.sections {
			if s.resource == r && s.stage == writing {
				perhaps = append(perhaps, s)
			}
		}
	}
	if _, crowded := imbalance(g.value, g.segment, perhaps); crowded != nil {
		j.violate(r)
	} else {
		j.hesitate(r, fmt.Sprintf("%s of %q overlap one another from %s on, too many to search", counted(len(g.segment), "section"), r.name, at(g.segment[0].call)))
	}
	g.lost = true
	g.segment, g.unknown = nil, nil
}

func (j *effect) finding(history.Time) Finding {
	for _, c := range j.ledger.clients {
		j.surrender(c)
	}
	for _, r := range j.ledger.inOrder() {
		j.judge(r)
	}
	f := Finding{Count: j.count}
	switch {
	case j.count > 0:
		f.Verdict, f.Story, f.Where = Violated, j.first, j.where
	case j.writes == 0:
		f.Verdict, f.Story = NotApplicable, "nobody wrote to a guarded resource"
	case j.doubt != "":
		f.Verdict, f.Story, f.Where = Unknown, j.doubt, j.uncertain
	default:
		f.Verdict, f.Story = Holds, fmt.Sprintf("%s as if one after another", counted(j.sections, "accepted section"))
	}
	return f
}
