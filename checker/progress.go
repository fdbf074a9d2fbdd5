package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// DeadlockFreedom says that once faults have ended, somebody is granted again.
const DeadlockFreedom Property = "deadlock_freedom"

// progress judges deadlock freedom: once faults have ended, every hold is over and
// the longest TTL has passed, some client that waits is granted the lock within
// the bound.
//
// It is looked at when a try is refused of a client that runs and reaches a quorum
// of the nodes that keep the lock (a majority of all, where it is kept elsewhere),
// while nobody holds the resource; and of the tries that were under way when the
// bound passed, queued or not, when somebody is granted the resource after all, when
// a fault begins, and at the end. A hold that only a
// release can end does not count as held when its client is dead. The wait counts
// from the latest of: what a fault last brought about, the end of the last hold, the
// grant before, and the first of the tries that follow each other. From then on
// it may last a longest TTL, or until the last key has expired that was set
// before, if a node's slow clock makes that later; and then the bound. A wait
// that was too long while a fault lasted is forgotten if that fault ends later on:
// one that never does is what the lock has to live with.
type progress struct {
	bound  time.Duration // 0: not judged
	ttl    time.Duration
	needed electorate // of which a client has to reach a quorum

	ledger  *ledger
	notes   *notes
	instant instant
	quiet   history.Time         // when a fault last brought something about
	faults  map[int]history.Time // when those began that last
	long    []longWait           // that no end of a fault has excused

	tries  int
	grants int
}

func newProgress(h history.Header, l *ledger, n *notes) judge {
	needed := electorateOf(h)
	if needed.None() {
		needed = allAlike(h.Nodes)
	}
	return &progress{
		bound: h.Bounds.Grant, ttl: h.LongestTTL, needed: needed,
		ledger: l, notes: n, quiet: longAgo, faults: map[int]history.Time{},
	}
}

func (p *progress) hears() kinds {
	if p.bound == 0 {
		return 0
	}
	return kindSet(history.Acquire, history.Granted, reentered, history.Refused, history.Release, history.Released, history.Lost, history.Lapse,
		history.KeySet, history.KeyGone, history.KeyExtended, history.FaultStart, history.FaultEnd,
		history.NodeDown, history.NodeUp, history.LinkDown, history.LinkUp, history.Pause, history.Resume, history.Kill, history.Cancel)
}

func (p *progress) observe(f *fact) { p.instant.hear(f, p.ledger) }

// settle judges the instant that is over, in an order of its own. What ends in it, by
// itself or with a fault, counts first, and what a fault begins counts last: who is refused
// in the very instant in which a node comes up has not waited for it in vain, and who had
// waited for too long when a node went down has.
func (p *progress) settle() {
	n := &p.instant
	for _, h := range n.freed {
		if h.returned && h.granted < n.now {
			h.resource.waiting.freed = n.now
		}
	}
	for _, number := range n.starts {
		p.faults[number] = n.now
	}
	if n.ended {
		p.quiet = n.now
	}
	for _, number := range n.ends {
		p.excuse(number)
	}
	for _, k := range n.keys {
		p.key(k, n.now)
	}
	p.judgeTries()
	for _, c := range n.died {
		for _, h := range c.holds {
			h.stopWaiting()
		}
	}
	if n.began {
		p.judgeAllOpen(n.now)
		p.quiet = n.now
	}
	n.clear()
}

// judgeTries looks at the tries that were called, or returned, in the instant.
func (p *progress) judgeTries() {
	n := &p.instant
	for _, h := range n.called {
		p.tries++
		h.resource.waiting.call(n.now, p.bound)
		h.wait()
	}
	for _, h := range n.granted {
		p.grants++
		h.stopWaiting()
		p.judgeGrant(h, n.now)
	}
	for _, h := range n.refused {
		h.stopWaiting()
		w := &h.resource.waiting
		if w.tried, w.owed = n.now, true; !n.grants(h.resource) && p.late(h, n.now, h) {
			p.violate(h.resource, n.now, fmt.Sprintf("at %s client %d was refused %q once more", at(n.now), h.client.number, h.resource.name))
		}
	}
	for _, h := range n.granted {
		w := &h.resource.waiting
		w.since, w.owed, w.long = n.now, false, false
	}
	for _, h := range n.left {
		h.stopWaiting()
	}
}

// late reports whether the client of the try can say that it has waited for too
// long, if nobody but the one hold has the resource.
func (p *progress) late(h *hold, now history.Time, but *hold) bool {
	w := &h.resource.waiting
	return !w.long && now > p.due(w) && p.able(h) && !h.resource.held(but, now)
}

// able reports whether the client of the try runs and reaches a quorum. What a
// lock on few nodes cannot do without them is the matter of fault tolerance.
func (p *progress) able(h *hold) bool {
	reached := p.needed.voters() &^ (p.ledger.down | h.client.cut)
	return !h.client.dead && !h.client.paused && p.needed.has(reached)
}

// judgeGrant looks at the tries that were under way when the bound passed, now
// that one of the resource's is granted.
func (p *progress) judgeGrant(h *hold, now history.Time) {
	if h.acquire.at <= p.due(&h.resource.waiting) && p.late(h, now, h) {
		p.violate(h.resource, now, fmt.Sprintf("client %d was granted %q only at %s, having called acquire at %s",
			h.client.number, h.resource.name, at(now), at(h.acquire.at)))
		return
	}
	p.judgeOpen(h.resource, now, h)
}

// judgeOpen looks at the tries that are still under way.
func (p *progress) judgeOpen(r *resource, now history.Time, but *hold) {
	if r.waiting.open == 0 || now <= p.due(&r.waiting) {
		return
	}
	for _, h := range r.holds {
		if h.waits && h.acquire.at <= p.due(&r.waiting) && p.late(h, now, but) {
			p.violate(r, now, fmt.Sprintf("at %s client %d still waited for %q, having called acquire at %s",
				at(now), h.client.number, r.name, at(h.acquire.at)))
		}
	}
}

func (p *progress) judgeAllOpen(now history.Time) {
	if now <= p.quiet.Add(p.ttl).Add(p.bound) {
		return // nothing is due
	}
	for _, r := range p.ledger.inOrder() {
		p.judgeOpen(r, now, nil)
	}
}

func (p *progress) violate(r *resource, now history.Time, what string) {
	w := &r.waiting
	w.long = true
	p.long = append(p.long, longWait{resource: r, at: now, start: p.start(w), story: fmt.Sprintf(
		"%s, and nobody had been granted it since %s, though nobody held it, no fault began or ended, and the longest TTL, %v, and the bound, %v, had passed%s%s",
		what, at(p.start(w)), p.ttl, p.bound, p.goingOn(now), p.clause(r))})
}

// goingOn tells the faults that last.
func (p *progress) goingOn(now history.Time) string {
	if told := tell(p.notes.between(now, now), now-1, false); told != "" {
		return ". Meanwhile: " + told
	}
	return ""
}

// clause says what stood in the way.
func (p *progress) clause(r *resource) string {
	for _, h := range r.holds {
		if h.leased() && h.orphaned() {
			return broken(releases, "client %d, which was granted it at %s without an end, died at %s", h.client.number, at(h.granted), at(h.client.died))
		}
	}
	start, old, renewed := p.start(&r.waiting), nodes(0), kept{}
	for _, k := range r.waiting.kept {
		if k.set <= start {
			old = old.with(k.node)
			if k.extended > max(start, renewed.extended) {
				renewed = k
			}
		}
	}
	switch {
	case renewed.by != 0: // since nobody holds it
		return unbroken(p.notes, "%v still kept one from before, which client %d went on to extend, last at %s", old, renewed.by, at(renewed.extended))
	case old != 0:
		return broken(keysExpire, "%v still kept one from before", old)
	}
	if v := p.ledger.forgetful; v.node != 0 {
		return broken(storeKeeps, "%s", v.leads())
	}
	if clones := p.notes.clones(); clones != "" {
		return broken(delaysDiffer, "%s", clones)
	}
	return unbroken(p.notes, "the lock itself granted it to nobody")
}

// excuse forgets the waits that were too long while a fault lasted that has ended.
func (p *progress) excuse(fault int) {
	began := p.faults[fault]
	delete(p.faults, fault)
	p.long = without(p.long, func(l *longWait) bool {
		if l.at >= began {
			l.resource.waiting.long = false
		}
		return l.at >= began
	})
}

// owing returns a resource that nobody was granted since faults last did
// something, though a try was refused or is under way.
func (p *progress) owing() *resource {
	for _, r := range p.ledger.inOrder() {
		if p.quiet > r.waiting.since && (r.waiting.owed || p.awaited(r)) {
			return r
		}
	}
	return nil
}

// awaited reports whether somebody waits for the resource who could be granted it,
// if nobody held it.
func (p *progress) awaited(r *resource) bool {
	return !r.held(nil, forever) && slices.ContainsFunc(r.holds, func(h *hold) bool { return h.waits && p.able(h) })
}

func (p *progress) finding(end history.Time) Finding {
	if p.bound > 0 {
		p.judgeAllOpen(end)
	}
	f := Finding{Count: len(p.long)}
	switch owing := p.owing(); {
	case p.bound == 0:
		f.Verdict, f.Story = NotApplicable, "no bound is stated"
	case len(p.long) > 0:
		f.Verdict, f.Story, f.Where = Violated, p.long[0].story, p.long[0].where()
	case p.tries == 0:
		f.Verdict, f.Story = NotApplicable, "nobody waited for the lock"
	case p.grants == 0:
		f.Verdict, f.Story = Unknown, "nobody was granted the lock, and nobody waited for long enough with a majority of the nodes in reach"
		f.Where = &Place{From: end, To: end}
	case owing != nil:
		f.Verdict = Unknown
		why := fmt.Sprintf("the history ends at %s, too soon to tell", at(end))
		if end > p.due(&owing.waiting) && !p.awaited(owing) {
			why = "nobody who waits for it reaches a majority of the nodes"
		}
		f.Where = &Place{Resource: owing.name, From: p.quiet, To: end}
		f.Story = fmt.Sprintf("nobody was granted %q after faults had last done something, at %s, and %s", owing.name, at(p.quiet), why)
	default:
		f.Verdict, f.Story = Holds, fmt.Sprintf("%s, and none was waited for longer than %v when nothing stood in the way", counted(p.grants, "grant"), p.bound)
	}
	return f
}
