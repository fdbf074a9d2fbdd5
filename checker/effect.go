package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Effect says that the guarded resource, which is 0 at first, is as if its accepted sections had run
// one after another. A section is a read and the next write under the same token.
const Effect Property = "effect"

// effect judges effect exclusion. It cuts the sections of a resource into segments at quiescent
// points, so that the cost stays linear: see [register].
type effect struct {
	state      *state
	faultLog   *faultLog
	registers  perResource[register]
	orders     orders
	minSegment int
	maxSegment int
	maxWait    int

	now     history.Time
	leaving []*hold     // holds whose release has returned in this instant
	dying   []*client   // clients that died in this instant
	long    []*resource // resources whose segment became too long in this instant

	writes   int
	sections int // accepted
	ordered  int // of them, in segments that have an order
	breaches violations
	doubt    *Finding // why some segment could not be decided

	each func(Access) // nil: nobody asked
}

func newEffect(_ history.Header, l *state, n *faultLog) propertyChecker {
	return &effect{state: l, faultLog: n, orders: orders{limit: searchLimit}, minSegment: minSegment, maxSegment: maxSegment, maxWait: maxWait}
}

// register returns the state of a resource, which is 0 at first.
func (j *effect) register(r *resource) *register {
	g := j.registers.of(r)
	if g.states == nil {
		g.states, g.unknown = []registerState{{}}, unknowns{}
	}
	return g
}

// SetSearchLimit bounds the search for an order of overlapping sections, in real time. If a search
// takes longer, the verdict is unknown. The default is 2 s; 0 means no limit. Each search that
// gives up halves the limit, so that all searches together take at most twice the limit. Call it
// before the first event.
func (p *Checker) SetSearchLimit(limit time.Duration) {
	for _, j := range p.allCheckers() {
		if e, ok := j.(*effect); ok {
			e.orders.limit = limit
		}
	}
}

func (*effect) wants() kinds {
	return kindSet(history.Read, history.ReadDone, history.Write, history.WriteDone, history.Apply, history.Released, history.Kill)
}

func (j *effect) observe(f *fact) {
	s := f.section
	j.now = f.Time
	switch f.Kind {
	case history.Read:
		if f.replaced != nil {
			j.register(f.replaced.resource).close(f.Time)
		}
		j.open(s)
	case history.ReadDone:
		if s != nil && f.Outcome != history.OK {
			j.register(s.resource).close(f.Time)
		}
	case history.Write:
		j.writes++
		if s.blind {
			j.open(s)
		}
	case history.WriteDone:
		j.written(s, f.Outcome)
	case history.Apply:
		j.applied(s)
	case history.Released:
		if f.hold != nil {
			j.leaving = append(j.leaving, f.hold)
		}
	case history.Kill:
		j.dying = append(j.dying, f.client)
	}
}

// open begins a section. Its call may show that the resource was quiescent until now.
func (j *effect) open(s *section) {
	g := j.register(s.resource)
	if g.quiescent(s.call) && (g.lost || len(g.segment) >= j.minSegment && !g.awaitsApply(j.maxWait)) {
		j.judge(s.resource)
	}
	g.open++
}

func (j *effect) written(s *section, o history.Outcome) {
	if s == nil {
		return
	}
	j.register(s.resource).close(j.now)
	switch o {
	case history.OK:
		j.accept(s)
	case history.Unknown:
		j.unanswered(s)
	case history.Declined:
		if s.arrived != 0 { // another write was applied
			j.cannotTell(s)
		}
	}
}

// accept adds a section whose write was accepted.
func (j *effect) accept(s *section) {
	if j.each != nil {
		j.each(s.told(false))
	}
	j.sections++
	g := j.register(s.resource)
	g.accept(s)
	if len(g.segment) >= j.maxSegment {
		j.long = append(j.long, s.resource)
	}
}

// unanswered adds a section whose write has an unknown outcome. If it was applied it was accepted,
// and ended then.
func (j *effect) unanswered(s *section) {
	switch g := j.register(s.resource); {
	case s.arrived == 0:
		g.waiting = append(g.waiting, s)
	case s.guessed:
		j.giveUpOn(s)
		j.cannotTell(s)
	default:
		j.accept(s)
	}
}

// applied decides the outcome of a section that waits for its apply.
func (j *effect) applied(s *section) {
	if s == nil {
		return
	}
	g := j.register(s.resource)
	g.applies = true
	switch {
	case s.stage != unanswered:
	case slices.Contains(g.waiting, s):
		g.waiting = remove(g.waiting, s)
		j.unanswered(s)
	default:
		j.undecidable(s.resource, []*section{s}, fmt.Sprintf("was over when its write was applied, at %s", at(s.arrived)))
	}
}

// cannotTell records that the section is only one of several whose write may have been applied.
func (j *effect) cannotTell(s *section) {
	j.undecidable(s.resource, []*section{s}, fmt.Sprintf("has to guess which of the client's writes of %d was applied at %s", s.wrote, at(s.arrived)))
}

// stopWaiting makes the sections that wait for their apply unknown: each may take effect at any
// time after its call, or never.
func (j *effect) stopWaiting(r *resource) {
	g := j.register(r)
	for _, s := range g.waiting {
		j.giveUpOn(s)
	}
	clear(g.waiting)
	g.waiting = g.waiting[:0]
}

// giveUpOn adds a section that may have taken effect or not.
func (j *effect) giveUpOn(s *section) {
	j.register(s.resource).unknown.add(s)
	if j.each != nil {
		j.each(s.told(true))
	}
}

func (j *effect) drop(c *client, s *section) {
	c.leave(s)
	j.register(s.resource).close(j.now)
}

func (*effect) settles() kinds {
	return kindSet(history.Released, history.Kill, history.WriteDone, history.Apply)
}

// settle drops the sections that will never write, because their lock was released or their client
// has died. (A dead client's write may still arrive.) The length of a segment is checked only at
// the end of the instant, when all its calls are known: a call may come before a return of the same
// instant.
func (j *effect) settle() {
	for _, h := range j.leaving {
		j.leave(h.client, func(s *section) bool { return s.token == h.token && s.resource == h.resource })
	}
	for _, c := range j.dying {
		j.leave(c, func(*section) bool { return true })
		j.surrender(c)
	}
	for _, r := range j.long {
		if !j.register(r).lost {
			j.giveUp(r)
		}
	}
	j.leaving, j.dying, j.long = j.leaving[:0], j.dying[:0], j.long[:0]
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
		if s.stage == unanswered {
			j.unanswered(s)
		}
	}
}

// judge decides the resource's segment and begins the next one.
func (j *effect) judge(r *resource) {
	j.stopWaiting(r)
	g := j.register(r)
	if g.lost {
		g.next(undecided) // if the last section was alone, the value is known again
	}
	if len(g.segment) == 0 {
		return
	}
	found := g.decide(&j.orders)
	switch found {
	case legal:
		g.decided += len(g.segment)
		j.ordered += len(g.segment)
	case illegal:
		j.violate(r)
	case undecided:
		j.undecidable(r, g.segment, fmt.Sprintf("takes more than %s", j.orders.waited))
	case untried:
		j.undecidable(r, g.segment, "has to try too many unknown writes")
	}
	g.next(found)
}

func (j *effect) violate(r *resource) {
	j.breaches.add(func() Finding { return j.explain(r) })
}

// undecidable records why the order of some sections of the resource cannot be decided.
func (j *effect) undecidable(r *resource, sections []*section, why string) {
	if j.doubt == nil {
		where := placeOf(r.name, sections)
		e := Event{Role: RoleUnseen, From: sections[0].call, Resource: r.name}
		f := because(Unknown, e.say("%s is undecided from %s on: a search for an order of the next %s %s; decided are the %d accepted ones before",
			quoted(r.name), at(e.From), counted(len(sections), "section"), why, j.register(r).decided))
		f.Where = &where
		j.doubt = &f
	}
}

// giveUp skips a segment whose sections overlap without end, unless counting is enough to refute
// it.
func (j *effect) giveUp(r *resource) {
	j.stopWaiting(r)
	g := j.register(r)
	var ongoing []*section
	for _, c := range j.state.clients {
		for _, s := range c.sections {
			if s.resource == r {
				ongoing = append(ongoing, s)
			}
		}
	}
	if g.crowded(ongoing) {
		j.violate(r)
	} else {
		j.undecidable(r, g.segment, "that overlap one another is not begun")
	}
	g.next(undecided)
	g.lost = true
}

func (j *effect) finding(history.Time) Finding {
	for _, c := range j.state.clients {
		j.surrender(c)
	}
	for _, r := range j.state.inOrder() {
		j.judge(r)
	}
	switch {
	case j.breaches.count > 0:
		return j.breaches.violated()
	case j.writes == 0:
		return notExercised(NotApplicable, "nobody wrote to a guarded resource")
	case j.doubt != nil:
		if j.sections > 0 {
			j.doubt.Events = append(j.doubt.Events, Event{Role: RoleAccess}.say("in all %d of %s are as if one after another", j.ordered, counted(j.sections, "accepted section")))
		}
		return *j.doubt
	}
	return because(Holds, Event{Role: RoleAccess}.say("%s as if one after another", counted(j.sections, "accepted section")))
}

// explain says why the sections of the resource's segment have no order, with cause and place.
func (j *effect) explain(r *resource) Finding {
	g := j.register(r)
	value, readers := overread(g.states[0].value, g.segment, g.unknown, nil)
	culprits, where := append(slices.Clone(g.segment), g.unknown.all()...), placeOf(r.name, g.segment)
	if len(readers) > 1 {
		slices.SortStableFunc(readers, func(a, b *section) int { return cmp.Compare(a.readAt, b.readAt) })
		culprits, where = readers[:2], placeOf(r.name, readers[:2])
	}
	return Finding{Events: g.tell(r.name, value, readers), Causes: j.causes(r, culprits), Where: &where}
}

// placeOf returns the time span of some sections: from the first call to the last return or call.
func placeOf(resource string, sections []*section) Place {
	p := Place{Resource: resource, From: forever}
	for _, s := range sections {
		p.From, p.To = min(p.From, s.call), max(p.To, s.call, s.ret)
	}
	return p
}

func (g *register) tell(name string, value int64, readers []*section) []Event {
	switch {
	case len(readers) > 1:
		where := placeOf(name, readers[:2])
		lost := Event{Role: RoleOverlap, From: where.From, To: where.To, Resource: name}
		return []Event{lost.say("an update of %s was lost", quoted(name)), readers[0].tell(), readers[1].tell()}
	case len(readers) == 1:
		stale := readers[0].tell()
		stale.Role = RoleOverlap
		stale.Text += fmt.Sprintf(", but %d was not the value of %s at any time then", readers[0].read, quoted(name))
		return []Event{stale, g.before(readers[0])}
	}
	return g.explainByOrder(name)
}

// before states the value of the resource before a section.
func (g *register) before(s *section) Event {
	for i := len(g.segment) - 1; i >= 0; i-- {
		if b := g.segment[i]; b.ret < s.call {
			told := b.tell()
			told.Text = "before that, " + told.Text
			return told
		}
	}
	first := Event{Role: RoleAccess, Resource: s.resource.name}
	if len(g.segment) == g.accepted {
		return first.say("a guarded resource is 0 at first")
	}
	return first.say("%s was %d before", quoted(s.resource.name), g.states[0].value)
}

// explainByOrder describes sections whose values are consistent in number, but in no order.
func (g *register) explainByOrder(name string) []Event {
	const most = 4
	where := placeOf(name, g.segment)
	none := Event{Role: RoleOverlap, From: where.From, To: where.To, Resource: name}
	told := []Event{none.say("no order of these sections of %s, from the value %d on, explains what they read", quoted(name), g.states[0].value)}
	for _, s := range g.segment[:min(most, len(g.segment))] {
		told = append(told, s.tell())
	}
	if more := len(g.segment) - most; more > 0 {
		told = append(told, Event{Role: RoleAccess, Resource: name}.say("and %d more", more))
	}
	return told
}

func (s *section) tell() Event {
	e := Event{Role: RoleAccess, From: s.writeAt, To: s.arrived, Client: s.client, Resource: s.resource.name, Token: s.token}
	text := fmt.Sprintf("client %d (token %s) ", s.client, short(s.token))
	if !s.blind {
		e.From, e.To = s.readAt, s.writeAt
		text += fmt.Sprintf("read %d at %s and ", s.read, at(s.readAt))
	}
	text += fmt.Sprintf("wrote %d at %s", s.wrote, at(s.writeAt))
	if s.arrived.Sub(s.writeAt) > noticeable {
		text += fmt.Sprintf(", which arrived at %s", at(s.arrived))
	}
	e.Text = text
	return e
}
