package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// DeadlockFreedom says that after faults have ended, some client is granted the lock again.
const DeadlockFreedom Property = "deadlock_freedom"

// progress judges deadlock freedom: when faults have ended, every hold has ended and
// the longest TTL has passed, some waiting client is granted the lock within the
// bound.
//
// A wait begins at the latest of: the last effect of a fault that can have caused it
// (see [excuses]), the end of the last hold, the last grant, and the first of consecutive
// tries. It may last the longest TTL, or until the last key that was set before has
// expired, if a node whose clock a fault has made slow keeps it longer; and then the
// bound.
//
// A wait is judged when a try is refused while nobody holds the resource. Tries under
// way when the bound passes, queued or not, are judged when somebody is granted the
// resource, when a fault begins, and at the end. Only tries of clients count that run
// and reach a quorum of the nodes that keep the lock (a majority of all nodes, if the
// lock is kept elsewhere). A hold without a TTL counts as ended when its client is
// dead.
//
// A wait that was too long during a fault is forgotten if that fault ends later, and can
// have caused the wait for as long as it lasted. A fault that never ends is no excuse, and
// none is one for keys that outlive their TTL on nodes with right clocks.
type progress struct {
	bound  time.Duration // 0: not judged
	ttl    time.Duration
	needed electorate // nodes of which a client has to reach a quorum

	state    *state
	faultLog *faultLog
	instant  instant
	excuses  excuses
	quiet    history.Time // the last effect of a fault that can have caused anybody's wait
	long     []longWait   // waits that were too long and are not excused

	tries  int
	grants int
}

func newProgress(h history.Header, l *state, n *faultLog) propertyChecker {
	needed := electorateOf(h)
	if needed.None() {
		needed = allAlike(h.Nodes)
	}
	return &progress{
		bound: h.Bounds.Grant, ttl: h.LongestTTL, needed: needed,
		state: l, faultLog: n, quiet: longAgo, excuses: newExcuses(needed.voters(), l.header.Clients),
		instant: instant{called: make([]*hold, 0, 4)},
	}
}

func (p *progress) wants() kinds {
	if p.bound == 0 {
		return 0
	}
	keys := kindSet(history.KeySet, history.KeyGone, history.KeyExtended)
	if p.state.header.Watched {
		keys = kindSet(history.EntriesSeen) // keys are recorded late
	}
	return keys | kindSet(history.Acquire, history.Granted, reentered, history.Refused, history.Release, history.Released, history.Lost, history.Lapse,
		history.FaultStart, history.FaultEnd,
		history.NodeDown, history.NodeUp, history.LinkDown, history.LinkUp, history.Pause, history.Resume, history.Kill, history.Cancel)
}

// settle judges the instant that is over. Ends of holds and faults count first, begins of
// faults last: a client that is refused in the instant in which a node comes up has not
// waited too long, and a client that has waited too long when a node goes down has.
func (p *progress) settle() {
	n := &p.instant
	for _, f := range n.freed {
		if h := f.hold; h.returned {
			h.resource.waiting.endKeys(h, f.by, n.now, "")
			if h.granted < n.now {
				h.resource.waiting.freed = n.now
			}
		}
	}
	if len(n.starts)+len(n.over)+len(n.shown) > 0 {
		p.excuses.shown(n.shown, n.over)
	}
	for _, f := range n.over {
		n.ended = append(n.ended, f.concern(p.state, p.excuses.voters))
	}
	for _, c := range n.ended {
		p.restart(c)
	}
	p.excuse()
	for _, k := range n.keys {
		p.key(k, n.now)
	}
	p.judgeTries()
	for _, c := range n.died {
		for _, h := range c.holds {
			h.stopWaiting()
		}
	}
	for _, f := range n.starts {
		if !f.kind.Does(shows) {
			n.began = append(n.began, f.concern(p.state, p.excuses.voters))
		}
	}
	for _, c := range n.began {
		p.judgeOpenOf(c)
	}
	for _, c := range n.began {
		p.restart(c)
	}
	p.excuses.begun(n.linked)
	n.clear()
}

// restart counts the waits anew that something in this instant can have caused.
func (p *progress) restart(c concern) {
	if c.everybody {
		p.quiet = p.instant.now
		return
	}
	for _, r := range c.resources(p.state) {
		r.waiting.quiet = p.instant.now
	}
}

// judgeTries judges the tries that were called, or returned, in the instant.
func (p *progress) judgeTries() {
	n := &p.instant
	for _, h := range n.called {
		p.tries++
		h.resource.waiting.use(h.client)
		h.resource.waiting.call(n.now, p.bound)
		h.wait()
	}
	for _, h := range n.granted {
		p.grants++
		h.stopWaiting()
		p.judgeGrant(h, n.now)
	}
	for _, f := range n.refused {
		h := f.hold
		h.stopWaiting()
		w := &h.resource.waiting
		w.ended(f.reason)
		w.endKeys(h, history.Refused, n.now, f.reason)
		if o := h.outlived(p.needed, n.now); o != nil {
			w.outlived = o
		}
		if w.tried, w.owed = n.now, true; !n.grants(h.resource) && p.late(h, n.now, h) {
			p.violate(h, n.now, "refused")
		}
	}
	for _, h := range n.granted {
		w := &h.resource.waiting
		w.since, w.owed, w.long, w.ends = n.now, false, false, w.ends[:0]
		w.pass(h)
	}
	for _, h := range n.left {
		h.stopWaiting()
	}
}

// late reports whether the try has waited too long: nobody holds the resource, except
// possibly the one hold.
func (p *progress) late(h *hold, now history.Time, but *hold) bool {
	w := &h.resource.waiting
	return !w.long && now > p.due(w) && p.able(h) && !h.resource.held(but, now)
}

// able reports whether the client of the try runs and reaches a quorum. Fault tolerance
// judges what a lock does without one.
func (p *progress) able(h *hold) bool {
	return !h.client.dead && !h.client.paused && p.needed.has(p.reached(h))
}

// reached are the nodes that keep the lock and that the client of the try reaches.
func (p *progress) reached(h *hold) nodes {
	return p.needed.voters() &^ (p.state.down | h.client.cut | p.state.silent(p.instant.now, p.patience()))
}

// patience is how long a node may take to answer its watch. After that it is not in reach.
func (p *progress) patience() time.Duration { return p.bound / requiredLooks }

// judgeGrant judges the tries that were under way when the bound passed, because one
// of them is granted.
func (p *progress) judgeGrant(h *hold, now history.Time) {
	if h.acquire.at <= p.due(&h.resource.waiting) && p.late(h, now, h) {
		p.violate(h, now, "granted")
		return
	}
	p.judgeOpen(h.resource, now, h)
}

// judgeOpen judges the tries that are still under way.
func (p *progress) judgeOpen(r *resource, now history.Time, but *hold) {
	if r.waiting.open == 0 || now <= p.due(&r.waiting) {
		return
	}
	for _, h := range r.holds {
		if h.waits && h.acquire.at <= p.due(&r.waiting) && p.late(h, now, but) {
			p.violate(h, now, "waiting")
		}
	}
}

// judgeOpenOf judges the tries under way that something which begins now can hold up.
func (p *progress) judgeOpenOf(c concern) {
	now := p.instant.now
	if now <= p.quiet.Add(p.ttl).Add(p.bound) {
		return // nothing is due
	}
	for _, r := range c.resources(p.state) {
		p.judgeOpen(r, now, nil)
	}
}

// violate reports that the try of a client has waited for too long; how is the evidence.
func (p *progress) violate(h *hold, now history.Time, how string) {
	r := h.resource
	start := p.start(&r.waiting)
	r.waiting.long = true
	l := longWait{resource: r, at: now, start: start, told: Finding{
		Events: append([]Event{p.waited(h, start, now, how)}, eventsOf(p.faultLog.between(now, now), now-1, false)...),
		Causes: p.causes(h, now),
		Where:  &Place{Resource: r.name, From: start, To: now},
	}}
	if !p.blocked(h) {
		l.links, l.faults = p.excuses.present(p.state, r)
	}
	p.long = append(p.long, l)
}

// waited describes a wait that was too long since an instant, and how it ended.
func (p *progress) waited(h *hold, start, now history.Time, how string) Event {
	text := fmt.Sprintf("at %s client %d still waited for %s, having called acquire at %s", at(now), h.client.number, quoted(h.resource.name), at(h.acquire.at))
	switch how {
	case "refused":
		text = fmt.Sprintf("at %s client %d was refused %s once more", at(now), h.client.number, quoted(h.resource.name))
	case "granted":
		text = fmt.Sprintf("client %d was granted %s only at %s, having called acquire at %s", h.client.number, quoted(h.resource.name), at(now), at(h.acquire.at))
	}
	e := Event{Role: RoleWait, From: start, To: now, Client: h.client.number, Resource: h.resource.name, Token: h.token}
	return e.say("%s, and nobody had been granted it since %s, though nobody held it, no fault that can hold up a grant began or ended, and the longest TTL, %v, and the bound, %v, had passed",
		text, at(start), p.ttl, p.bound)
}

// excuse forgets the waits that were too long only while a link was down that is up now, or a fault
// went on that has ended.
func (p *progress) excuse() {
	n := &p.instant
	if len(p.long) == 0 || len(n.mended)+len(n.over) == 0 {
		return
	}
	p.long = without(p.long, func(l *longWait) bool {
		up := slices.ContainsFunc(n.mended, func(m cutLinks) bool {
			return slices.ContainsFunc(l.links, func(c cutLinks) bool { return c.client == m.client && c.nodes&m.nodes != 0 })
		})
		over := slices.ContainsFunc(n.over, func(f *ongoingFault) bool { return slices.Contains(l.faults, f.number) })
		if up || over {
			l.resource.waiting.long = false
		}
		return up || over
	})
}

// owing returns a resource that was granted to nobody since the last effect of a fault, though a
// try was refused or is in progress.
func (p *progress) owing() *resource {
	for _, r := range p.state.inOrder() {
		if p.disturbed(&r.waiting) > r.waiting.since && (r.waiting.owed || p.awaited(r)) {
			return r
		}
	}
	return nil
}

// awaited reports whether nobody holds the resource and a client waits for it that could
// be granted it.
func (p *progress) awaited(r *resource) bool {
	return !r.held(nil, forever) && slices.ContainsFunc(r.holds, func(h *hold) bool { return h.waits && p.able(h) })
}

func (p *progress) finding(end history.Time) Finding {
	if p.bound > 0 {
		p.instant.now = end
		p.judgeOpenOf(concern{everybody: true})
	}
	silent := p.silentAt(end)
	owing := p.owing()
	switch {
	case p.bound == 0:
		return notExercised(NotApplicable, noBound)
	case len(p.long) > 0:
		f := p.long[0].told
		f.Verdict, f.Count = Violated, len(p.long)
		return f
	case p.tries == 0:
		return notExercised(NotApplicable, "nobody waited for the lock")
	case p.grants == 0:
		f := notExercised(Unknown, "nobody was granted the lock, and nobody waited for long enough with a majority of the nodes in reach")
		f.Where = &Place{From: end, To: end}
		return f
	case owing != nil:
		quiet := p.disturbed(&owing.waiting)
		e := Event{Role: RoleUnseen, From: quiet, To: end, Resource: owing.name}
		why := fmt.Sprintf("the history ends at %s, too soon to tell", at(end))
		if end > p.due(&owing.waiting) && !p.awaited(owing) {
			why = "nobody who waits for it reaches a majority of the nodes"
			if e.Nodes = silent; len(silent) > 0 {
				why += fmt.Sprintf(": %v last answered their watch %s", setOf(silent), times(silent))
			}
		}
		f := because(Unknown, e.say("nobody was granted %s after faults had last done something, at %s, and %s", quoted(owing.name), at(quiet), why))
		f.Where = &Place{Resource: owing.name, From: quiet, To: end}
		return f
	}
	waited := Event{Role: RoleWait}
	return because(Holds, waited.say("%s, and none was waited for longer than %v when nothing stood in the way", counted(p.grants, "grant"), p.bound))
}

// silentAt returns the nodes that do not answer their watch any more when the history ends, with when
// they last did. Since then nothing is known of waits.
func (p *progress) silentAt(end history.Time) (last []NodeTime) {
	for rest := p.state.silent(end, p.patience()) & p.excuses.voters; rest != 0; rest = rest.without(rest.first()) {
		n := NodeTime{Node: rest.first(), At: p.state.answered[0]}
		if p.state.header.Keys {
			n.At = p.state.answered[n.Node]
		}
		p.quiet = max(p.quiet, n.At)
		last = append(last, n)
	}
	return last
}

// instant collects the events of one instant for the checker of deadlock freedom, because they
// may come in any order.
type instant struct {
	now history.Time

	called  []*hold // tries
	granted []*hold
	refused []refusal
	left    []*hold // holds whose release has returned, and tries that entered a hold again
	freed   []freed
	keys    []keyNews

	began  []concern // things that faults do
	ended  []concern
	starts []*ongoingFault
	over   []*ongoingFault
	shown  []int      // numbers of faults that show what they do
	mended []cutLinks // links that are up again
	linked []*client  // clients of which a link has changed
	died   []*client
}

// refusal is a try that was refused.
type refusal struct {
	hold   *hold
	reason string
}

// freed is a hold that may have ended.
type freed struct {
	hold *hold
	by   history.Kind
}

// observe notes what happens in the instant.
func (p *progress) observe(f *fact) {
	n := &p.instant
	n.now = f.Time
	switch f.Kind {
	case history.Acquire, history.Granted, history.Refused, history.Release, history.Released, history.Lost, history.Lapse:
		if f.hold != nil {
			n.addHold(f)
		}
	case reentered:
		n.left = append(n.left, f.try)
	case history.EntriesSeen:
		if f.silence() > p.patience() {
			n.ended = append(n.ended, concern{everybody: f.Node == 0 || p.excuses.voters.has(f.Node)})
		}
	case history.KeySet, history.KeyGone, history.KeyExtended:
		n.keys = append(n.keys, keyNews{
			resource: f.about, node: f.Node, token: f.Token, client: f.Client, kind: f.Kind,
			expired: f.Reason == history.Expired, endless: f.Detail == history.NoExpiry,
		})
	default:
		p.observeFault(f)
	}
}

func (n *instant) addHold(f *fact) {
	switch f.Kind {
	case history.Acquire:
		n.called = append(n.called, f.hold)
	case history.Granted:
		n.granted = append(n.granted, f.hold)
	case history.Refused:
		n.refused = append(n.refused, refusal{f.hold, f.Reason})
	case history.Released:
		n.left = append(n.left, f.hold)
	default:
		n.freed = append(n.freed, freed{f.hold, f.Kind})
	}
}

// observeFault notes what befalls nodes, clients and links.
func (p *progress) observeFault(f *fact) {
	n, x := &p.instant, &p.excuses
	var c concern
	switch f.Kind {
	case history.FaultStart:
		n.starts = append(n.starts, x.starts(f))
		return
	case history.FaultEnd:
		if over := x.ends(f); over != nil {
			n.over = append(n.over, over)
		}
		return
	case history.NodeDown, history.NodeUp:
		c.everybody = x.voters.has(f.Node)
	case history.LinkDown, history.LinkUp:
		n.linked = append(n.linked, f.client)
		if x.voters.has(f.Node) {
			c.client = f.client
		}
		if f.Kind == history.LinkUp && f.changes {
			n.mended = append(n.mended, cutLinks{f.client, node(f.Node)})
		}
	case history.Kill:
		n.died = append(n.died, f.client)
		c.client = f.client
	default:
		c.client = f.client
	}
	if f.Fault != 0 {
		n.shown = append(n.shown, f.Fault)
	}
	if c.none() {
		return
	}
	switch f.Kind {
	case history.NodeUp, history.LinkUp, history.Resume, history.Cancel:
		n.ended = append(n.ended, c)
	default:
		n.began = append(n.began, c)
	}
}

// grants reports whether somebody was granted the resource.
func (n *instant) grants(r *resource) bool {
	return slices.ContainsFunc(n.granted, func(h *hold) bool { return h.resource == r })
}

// clear keeps the lists for the next instant.
func (n *instant) clear() {
	n.called, n.granted, n.refused, n.left = n.called[:0], n.granted[:0], n.refused[:0], n.left[:0]
	n.freed, n.keys, n.died = n.freed[:0], n.keys[:0], n.died[:0]
	n.began, n.ended, n.starts, n.over = n.began[:0], n.ended[:0], n.starts[:0], n.over[:0]
	n.shown, n.mended, n.linked = n.shown[:0], n.mended[:0], n.linked[:0]
}
