package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// Effect says that the guarded resource, which is 0 at first, is as if its accepted sections had run
// one after another. A section is a read and the next write under the same token.
const Effect Property = "effect"

// effect judges effect exclusion. It cuts the sections of a resource into segments at quiescent
// points, so that the cost stays linear: see [register].
type effect struct {
	timeline   *timeline.Timeline
	registers  timeline.PerResource[register]
	orders     orders
	overlaps   *timeline.PerResource[[]*conflict] // of leases
	minSegment int
	maxSegment int
	maxWait    int

	leaving []*timeline.Hold     // holds whose release has returned in this instant
	dying   []*timeline.Client   // clients that died in this instant
	ended   []*timeline.Resource // resources of which a section has ended in this instant

	writes   int
	sections int // accepted
	ordered  int // of them, in segments that have an order
	breaches violations
	doubt    *Finding // why some segment could not be decided

	each func(Access) // nil: nobody asked
}

func newEffect(line *timeline.Timeline, s *shared) propertyChecker {
	return &effect{timeline: line, overlaps: &s.overlaps, orders: orders{limit: searchLimit}, minSegment: minSegment, maxSegment: maxSegment, maxWait: maxWait}
}

// register returns the state of a resource, which is 0 at first.
func (j *effect) register(r *timeline.Resource) *register {
	g := j.registers.Of(r)
	if g.states == nil {
		g.states, g.unknown = []registerState{{}}, unknowns{}
	}
	return g
}

func (*effect) Wants() timeline.Kinds {
	return timeline.KindSet(history.Read, history.ReadDone, history.Write, history.WriteDone, history.Apply, history.Released, history.Kill)
}

func (j *effect) Observe(f *timeline.Fact) {
	s := f.Section
	switch f.Kind {
	case history.Read:
		if f.Replaced != nil {
			j.register(f.Replaced.Resource).open--
		}
		j.register(s.Resource).open++
	case history.ReadDone:
		if s != nil && f.Outcome != history.OK {
			j.register(s.Resource).open--
		}
	case history.Write:
		j.writes++
		if s.Blind {
			j.register(s.Resource).open++
		}
	case history.WriteDone:
		j.written(s, f.Outcome)
	case history.Apply:
		j.applied(s)
	case history.Released:
		if f.Hold != nil {
			j.leaving = append(j.leaving, f.Hold)
		}
	case history.Kill:
		j.dying = append(j.dying, f.Actor)
	}
}

// end ends a section that was in progress.
func (j *effect) end(s *timeline.Section) {
	j.register(s.Resource).open--
	j.mayCut(s.Resource)
}

// mayCut notes that the segment of a resource may be cut at the end of the instant, once: a segment that is
// looked at again depends on how many of the instant's events say so.
func (j *effect) mayCut(r *timeline.Resource) {
	if g := j.register(r); !g.ended {
		g.ended = true
		j.ended = append(j.ended, r)
	}
}

func (j *effect) written(s *timeline.Section, o history.Outcome) {
	if s == nil {
		return
	}
	j.end(s)
	switch o {
	case history.OK:
		j.accept(s)
	case history.Unknown:
		j.unanswered(s)
	case history.Declined:
		if s.Applied { // another write was applied
			j.cannotTell(s)
		}
	}
}

// accept adds a section whose write was accepted.
func (j *effect) accept(s *timeline.Section) {
	if j.each != nil {
		j.each(accessOf(s, false))
	}
	j.sections++
	j.register(s.Resource).accept(s)
}

// unanswered adds a section whose write has an unknown outcome. If it was applied it was accepted,
// and ended then.
func (j *effect) unanswered(s *timeline.Section) {
	switch g := j.register(s.Resource); {
	case !s.Applied:
		g.waiting = append(g.waiting, s)
	case s.Guessed:
		j.giveUpOn(s)
		j.cannotTell(s)
	default:
		j.accept(s)
	}
}

// applied decides the outcome of a section that waits for its apply.
func (j *effect) applied(s *timeline.Section) {
	if s == nil {
		return
	}
	g := j.register(s.Resource)
	g.applies = true
	switch {
	case s.Stage != timeline.Unanswered:
	case slices.Contains(g.waiting, s):
		g.waiting = timeline.Remove(g.waiting, s)
		j.mayCut(s.Resource)
		j.unanswered(s)
	default:
		j.undecidable(s.Resource, []*timeline.Section{s}, fmt.Sprintf("was over when its write was applied, at %s", at(s.AppliedAt)))
	}
}

// cannotTell records that the section is only one of several whose write may have been applied.
func (j *effect) cannotTell(s *timeline.Section) {
	j.undecidable(s.Resource, []*timeline.Section{s}, fmt.Sprintf("has to guess which of the client's writes of %d was applied at %s", s.Wrote, at(s.AppliedAt)))
}

// stopWaiting makes the sections that wait for their apply unknown: each may take effect at any
// time after its call, or never.
func (j *effect) stopWaiting(r *timeline.Resource) {
	g := j.register(r)
	for _, s := range g.waiting {
		j.giveUpOn(s)
	}
	clear(g.waiting)
	g.waiting = g.waiting[:0]
}

// giveUpOn adds a section that may have taken effect or not.
func (j *effect) giveUpOn(s *timeline.Section) {
	j.register(s.Resource).unknown.add(s)
	if j.each != nil {
		j.each(accessOf(s, true))
	}
}

func (j *effect) drop(c *timeline.Client, s *timeline.Section) {
	c.Leave(s)
	j.end(s)
}

func (*effect) Settles() timeline.Kinds {
	return timeline.KindSet(history.Released, history.Kill, history.WriteDone, history.Apply)
}

// Settle drops the sections that will never write, because their lock was released or their client
// has died. (A dead client's write may still arrive.) Segments are cut only at the end of an instant,
// when all its events are known: a call may come before a return of the same instant, and a return
// before an apply.
func (j *effect) Settle() {
	for _, h := range j.leaving {
		j.leave(h.Client, func(s *timeline.Section) bool { return s.Token == h.Token && s.Resource == h.Resource })
	}
	for _, c := range j.dying {
		j.leave(c, func(*timeline.Section) bool { return true })
		j.surrender(c)
	}
	for _, r := range j.ended {
		g := j.register(r)
		g.ended = false
		switch {
		case g.quiescent() && (g.lost || len(g.segment) >= j.minSegment && !g.awaitsApply(j.maxWait)):
			j.judge(r)
		case len(g.segment) >= j.maxSegment:
			j.giveUp(r)
		}
	}
	j.leaving, j.dying, j.ended = j.leaving[:0], j.dying[:0], j.ended[:0]
}

func (j *effect) leave(c *timeline.Client, which func(*timeline.Section) bool) {
	for i := len(c.Sections) - 1; i >= 0; i-- {
		if s := c.Sections[i]; s.Stage != timeline.Writing && which(s) {
			j.drop(c, s)
		}
	}
}

// surrender makes the outcome of the client's open writes unknown.
func (j *effect) surrender(c *timeline.Client) {
	for len(c.Sections) > 0 {
		s := c.Sections[len(c.Sections)-1]
		j.drop(c, s)
		if s.Stage == timeline.Unanswered {
			j.unanswered(s)
		}
	}
}

// judge decides the resource's segment and begins the next one.
func (j *effect) judge(r *timeline.Resource) {
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

func (j *effect) violate(r *timeline.Resource) {
	j.breaches.add(func() Finding { return j.explain(r) })
}

// undecidable records why the order of some sections of the resource cannot be decided.
func (j *effect) undecidable(r *timeline.Resource, sections []*timeline.Section, why string) {
	if j.doubt == nil {
		where := placeOf(r.Name, sections)
		e := Event{Role: RoleUnseen, From: sections[0].Call, Resource: r.Name}
		f := because(Unknown, e.say("%s is undecided from %s on: a search for an order of the next %s %s; decided are the %d accepted ones before",
			quoted(r.Name), at(e.From), counted(len(sections), "section"), why, j.register(r).decided))
		f.Where = &where
		j.doubt = &f
	}
}

// giveUp skips a segment whose sections overlap without end, unless counting is enough to refute
// it.
func (j *effect) giveUp(r *timeline.Resource) {
	j.stopWaiting(r)
	g := j.register(r)
	var ongoing []*timeline.Section
	for _, c := range j.timeline.Clients {
		for _, s := range c.Sections {
			if s.Resource == r {
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
	g.lost = !g.quiescent()
}

func (j *effect) finding(history.Time) Finding {
	for _, c := range j.timeline.Clients {
		j.surrender(c)
	}
	for _, r := range j.timeline.ResourcesInOrder() {
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
func (j *effect) explain(r *timeline.Resource) Finding {
	g := j.register(r)
	value, readers := overread(g.states[0].value, g.segment, g.unknown, nil)
	culprits, where := append(slices.Clone(g.segment), g.unknown.all()...), placeOf(r.Name, g.segment)
	if len(readers) > 1 {
		slices.SortStableFunc(readers, func(a, b *timeline.Section) int { return cmp.Compare(a.ReadAt, b.ReadAt) })
		culprits, where = readers[:2], placeOf(r.Name, readers[:2])
	}
	return Finding{Events: g.tell(r.Name, value, readers), Causes: j.causes(r, culprits), Where: &where}
}

// placeOf returns the time span of some sections: from the first call to the last return or call.
func placeOf(resource string, sections []*timeline.Section) Place {
	p := Place{Resource: resource, From: timeline.Forever}
	for _, s := range sections {
		p.From, p.To = min(p.From, s.Call), max(p.To, s.Call, s.Return)
	}
	return p
}

func (g *register) tell(name string, value int64, readers []*timeline.Section) []Event {
	switch {
	case len(readers) > 1:
		where := placeOf(name, readers[:2])
		lost := Event{Role: RoleOverlap, From: where.From, To: where.To, Resource: name}
		return []Event{lost.say("an update of %s was lost", quoted(name)), tellSection(readers[0]), tellSection(readers[1])}
	case len(readers) == 1:
		stale := tellSection(readers[0])
		stale.Role = RoleOverlap
		stale.Text += fmt.Sprintf(", but %d was not the value of %s at any time then", readers[0].Read, quoted(name))
		return []Event{stale, g.before(readers[0])}
	}
	return g.explainByOrder(name)
}

// before states the value of the resource before a section.
func (g *register) before(s *timeline.Section) Event {
	for i := len(g.segment) - 1; i >= 0; i-- {
		if b := g.segment[i]; b.Return < s.Call {
			told := tellSection(b)
			told.Text = "before that, " + told.Text
			return told
		}
	}
	first := Event{Role: RoleAccess, Resource: s.Resource.Name}
	if len(g.segment) == g.accepted {
		return first.say("a guarded resource is 0 at first")
	}
	return first.say("%s was %d before", quoted(s.Resource.Name), g.states[0].value)
}

// explainByOrder describes sections whose values are consistent in number, but in no order.
func (g *register) explainByOrder(name string) []Event {
	const most = 4
	where := placeOf(name, g.segment)
	none := Event{Role: RoleOverlap, From: where.From, To: where.To, Resource: name}
	told := []Event{none.say("no order of these sections of %s, from the value %d on, explains what they read", quoted(name), g.states[0].value)}
	for _, s := range g.segment[:min(most, len(g.segment))] {
		told = append(told, tellSection(s))
	}
	if more := len(g.segment) - most; more > 0 {
		told = append(told, Event{Role: RoleAccess, Resource: name}.say("and %d more", more))
	}
	return told
}

func tellSection(s *timeline.Section) Event {
	e := Event{Role: RoleAccess, From: s.WriteAt, To: s.AppliedAt, Client: s.Client, Resource: s.Resource.Name, Token: s.Token}
	text := fmt.Sprintf("client %d (token %s) ", s.Client, short(s.Token))
	if !s.Blind {
		e.From, e.To = s.ReadAt, s.WriteAt
		text += fmt.Sprintf("read %d at %s and ", s.Read, at(s.ReadAt))
	}
	text += fmt.Sprintf("wrote %d at %s", s.Wrote, at(s.WriteAt))
	if s.AppliedAt.Sub(s.WriteAt) > timeline.Noticeable {
		text += fmt.Sprintf(", which arrived at %s", at(s.AppliedAt))
	}
	e.Text = text
	return e
}

// Access is a read and a write of a guarded resource by a client under one token. Its write
// was accepted, or its outcome is unknown.
type Access struct {
	Client   int
	Resource string
	Token    string

	Blind bool  // there was no read
	Read  int64 // the value that was read
	Wrote int64 // the value that was written

	Call    history.Time // of the read, or of the write if there was none
	WriteAt history.Time // call of the write
	Return  history.Time // of the write, or its apply if its outcome is unknown and it was applied

	Unknown bool // the write may or may not have been applied
}

func accessOf(s *timeline.Section, unknown bool) Access {
	return Access{
		Client: s.Client, Resource: s.Resource.Name, Token: s.Token,
		Blind: s.Blind, Read: s.Read, Wrote: s.Wrote,
		Call: s.Call, WriteAt: s.WriteAt, Return: s.Return,
		Unknown: unknown,
	}
}

// causes says which assumption of the culprits was broken: that no other client held the
// lock, or that the resource refuses late writes.
func (j *effect) causes(r *timeline.Resource, culprits []*timeline.Section) []Cause {
	for _, c := range *j.overlaps.Of(r) {
		if has(culprits, c.client, c.token) && has(culprits, c.contender.client, c.contender.token) {
			return c.causes()
		}
	}
	for _, s := range culprits {
		if s.Late != nil && s.Late.Over {
			how := "the validity of client %d was over at %s"
			switch {
			case s.Late.Died:
				how = "client %d died at %s"
			case s.Late.Told:
				how = "client %d was told at %s that it had lost the lock"
			}
			late := Event{Role: RoleAccess, Client: s.Client, Token: s.Token}.between(s.Late.Since, s.WriteAt)
			late = late.say(how+", and its write, called at %s, was accepted", s.Client, at(s.Late.Since), at(s.WriteAt))
			return broken(RefusesLate, append([]Event{late}, pauseOf(s.Late.Paused, s.Client)...)...)
		}
	}
	for _, s := range culprits {
		if s.Late != nil {
			open := Event{Role: RoleAccess, From: s.WriteAt, Client: s.Client, Token: s.Token}
			if s.Stage == timeline.Unanswered && s.Applied {
				open.To = s.AppliedAt
				return broken(WritesArrive, open.say("client %d's write, called at %s, arrived at %s, after it had called release", s.Client, at(s.WriteAt), at(s.AppliedAt)))
			}
			return broken(WritesArrive, open.say("client %d's write, called at %s, had not returned when it released", s.Client, at(s.WriteAt)))
		}
	}
	return unbroken(Event{Role: RoleAccess, Text: "every write arrived in time, and no two holds are seen to overlap"})
}

func has(list []*timeline.Section, client int, token string) bool {
	return slices.ContainsFunc(list, func(s *timeline.Section) bool { return s.Client == client && s.Token == token })
}
