package checker

import (
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
// A wait begins at the latest of: the last effect of a fault, the end of the last
// hold, the last grant, and the first of consecutive tries. It may last the longest
// TTL, or until the last key that was set before has expired, if a node with a slow
// clock keeps it longer; and then the bound.
//
// A wait is judged when a try is refused while nobody holds the resource. Tries under
// way when the bound passes, queued or not, are judged when somebody is granted the
// resource, when a fault begins, and at the end. Only tries of clients count that run
// and reach a quorum of the nodes that keep the lock (a majority of all nodes, if the
// lock is kept elsewhere). A hold without a TTL counts as ended when its client is
// dead.
//
// A wait that was too long during a fault is forgotten if that fault ends later. A
// fault that never ends is no excuse.
type progress struct {
	bound  time.Duration // 0: not judged
	ttl    time.Duration
	needed electorate // nodes of which a client has to reach a quorum

	state    *state
	faultLog *faultLog
	instant  instant
	quiet    history.Time         // the last effect of a fault
	faults   map[int]history.Time // when the faults began that go on, by number
	long     []longWait           // waits that were too long and are not excused

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
		state: l, faultLog: n, quiet: longAgo, faults: map[int]history.Time{},
	}
}

func (p *progress) wants() kinds {
	if p.bound == 0 {
		return 0
	}
	keys := kindSet(history.KeySet, history.KeyGone, history.KeyExtended)
	if p.state.header.Watched {
		keys = 0 // they are recorded late
	}
	return keys | kindSet(history.Acquire, history.Granted, reentered, history.Refused, history.Release, history.Released, history.Lost, history.Lapse,
		history.FaultStart, history.FaultEnd,
		history.NodeDown, history.NodeUp, history.LinkDown, history.LinkUp, history.Pause, history.Resume, history.Kill, history.Cancel)
}

func (p *progress) observe(f *fact) { p.instant.add(f) }

// settle judges the instant that is over. Ends of holds and faults count first, begins of
// faults last: a client that is refused in the instant in which a node comes up has not
// waited too long, and a client that has waited too long when a node goes down has.
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

// judgeTries judges the tries that were called, or returned, in the instant.
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
		if o := h.outlived(p.needed, n.now); o != nil {
			w.outlived = o
		}
		if w.tried, w.owed = n.now, true; !n.grants(h.resource) && p.late(h, n.now, h) {
			p.violate(h, n.now, "refused")
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

// late reports whether the try has waited too long: nobody holds the resource, except
// possibly the one hold.
func (p *progress) late(h *hold, now history.Time, but *hold) bool {
	w := &h.resource.waiting
	return !w.long && now > p.due(w) && p.able(h) && !h.resource.held(but, now)
}

// able reports whether the client of the try runs and reaches a quorum. Fault tolerance
// judges what a lock does without one.
func (p *progress) able(h *hold) bool {
	reached := p.needed.voters() &^ (p.state.down | h.client.cut)
	return !h.client.dead && !h.client.paused && p.needed.has(reached)
}

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

func (p *progress) judgeAllOpen(now history.Time) {
	if now <= p.quiet.Add(p.ttl).Add(p.bound) {
		return // nothing is due
	}
	for _, r := range p.state.inOrder() {
		p.judgeOpen(r, now, nil)
	}
}

// violate reports that the try of a client has waited for too long; how is the evidence.
func (p *progress) violate(h *hold, now history.Time, how string) {
	r := h.resource
	start := p.start(&r.waiting)
	r.waiting.long = true
	p.long = append(p.long, longWait{resource: r, at: now, start: start, told: Finding{
		Events: []Statement{
			{Kind: WaitedLong, Detail: how, Client: h.client.number, Resource: r.name, At: now, Call: h.acquire.at},
			{Kind: NobodyGranted, At: start, TTL: p.ttl, Bound: p.bound},
		},
		Meanwhile: statementsOf(p.faultLog.between(now, now), now-1, false),
		Causes:    p.causes(r, now),
		Where:     &Place{Resource: r.name, From: start, To: now},
	}})
}

// causes returns what prevented the grant.
func (p *progress) causes(r *resource, now history.Time) []Cause {
	for _, h := range r.holds {
		if h.leased() && h.orphaned() {
			return broken(Releases, Statement{Kind: DiedHolding, Client: h.client.number, From: h.granted, At: h.client.died})
		}
	}
	start, old, renewed := p.start(&r.waiting), nodes(0), keptKey{}
	for _, k := range r.waiting.kept {
		if k.set <= start {
			old = old.with(k.node)
			if k.extended > max(start, renewed.extended) {
				renewed = k
			}
		}
	}
	switch left := (Statement{Kind: OldKeys, Nodes: old.listed(nil)}); {
	case renewed.by != 0: // since nobody holds it
		left.Client, left.At = renewed.by, renewed.extended
		return unbroken(p.faultLog, left)
	case old != 0:
		return broken(KeysExpire, left)
	}
	if v := p.state.forgetful; v.node != 0 {
		return broken(StoreKeeps, v.leads())
	}
	if clones := p.faultLog.clones(); len(clones) > 0 {
		return broken(DelaysDiffer, clones...)
	}
	if o := p.lastOutlived(r, start, now); o != nil {
		return unbroken(p.faultLog, o.statement())
	}
	return unbroken(p.faultLog, Statement{Kind: LockGrantedNone})
}

// excuse forgets the waits that were too long only during a fault that has ended.
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

// owing returns a resource that was granted to nobody since the last effect of a fault, though a
// try was refused or is in progress.
func (p *progress) owing() *resource {
	for _, r := range p.state.inOrder() {
		if p.quiet > r.waiting.since && (r.waiting.owed || p.awaited(r)) {
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
		p.judgeAllOpen(end)
	}
	owing := p.owing()
	switch {
	case p.bound == 0:
		return because(NotApplicable, Statement{Kind: NoBound})
	case len(p.long) > 0:
		f := p.long[0].told
		f.Verdict, f.Count = Violated, len(p.long)
		return f
	case p.tries == 0:
		return because(NotApplicable, Statement{Kind: NobodyWaited})
	case p.grants == 0:
		f := because(Unknown, Statement{Kind: NobodyGrantedYet})
		f.Where = &Place{From: end, To: end}
		return f
	case owing != nil:
		s := Statement{Kind: TooSoon, Resource: owing.name, From: p.quiet, At: end}
		if end > p.due(&owing.waiting) && !p.awaited(owing) {
			s.Kind = OutOfReach
		}
		f := because(Unknown, s)
		f.Where = &Place{Resource: owing.name, From: p.quiet, To: end}
		return f
	}
	return because(Holds, Statement{Kind: WaitsBounded, Count: p.grants, Bound: p.bound})
}

// instant collects the events of one instant for the checker of deadlock freedom, because they
// may come in any order.
type instant struct {
	now history.Time

	called  []*hold // tries
	granted []*hold
	refused []*hold
	left    []*hold // holds whose release has returned, and tries that entered a hold again
	freed   []*hold // holds that may have ended
	keys    []keyNews

	began  bool // a fault or one of its effects
	ended  bool
	starts []int // numbers of faults
	ends   []int
	died   []*client
}

// keyNews is a key that a node set, lost or extended.
type keyNews struct {
	resource *resource
	node     int
	set      bool
	expired  bool
	extended int // the client that extended it; 0: it was set or lost
}

func (n *instant) add(f *fact) {
	n.now = f.Time
	switch f.Kind {
	case history.Acquire, history.Granted, history.Refused, history.Release, history.Released, history.Lost, history.Lapse:
		if f.hold != nil {
			n.addHold(f.Kind, f.hold)
		}
	case reentered:
		n.left = append(n.left, f.try)
	case history.KeySet, history.KeyGone:
		n.keys = append(n.keys, keyNews{resource: f.about, node: f.Node, set: f.Kind == history.KeySet, expired: f.Reason == history.Expired})
	case history.KeyExtended:
		n.keys = append(n.keys, keyNews{resource: f.about, node: f.Node, extended: f.Client})
	default:
		n.addFault(f)
	}
}

func (n *instant) addHold(kind history.Kind, h *hold) {
	switch kind {
	case history.Acquire:
		n.called = append(n.called, h)
	case history.Granted:
		n.granted = append(n.granted, h)
	case history.Refused:
		n.refused = append(n.refused, h)
	case history.Released:
		n.left = append(n.left, h)
	default:
		n.freed = append(n.freed, h)
	}
}

func (n *instant) addFault(f *fact) {
	switch f.Kind {
	case history.Kill:
		n.died = append(n.died, f.client)
		n.began = true
	case history.FaultStart:
		n.starts = append(n.starts, f.Fault)
		n.began = true
	case history.NodeDown, history.LinkDown, history.Pause:
		n.began = true
	case history.FaultEnd:
		n.ends = append(n.ends, f.Fault)
		n.ended = true
	default:
		n.ended = true
	}
}

// grants reports whether somebody was granted the resource.
func (n *instant) grants(r *resource) bool {
	return slices.ContainsFunc(n.granted, func(h *hold) bool { return h.resource == r })
}

// clear keeps the lists for the next instant.
func (n *instant) clear() {
	n.called, n.granted, n.refused, n.left = n.called[:0], n.granted[:0], n.refused[:0], n.left[:0]
	n.freed, n.keys, n.starts, n.ends, n.died = n.freed[:0], n.keys[:0], n.starts[:0], n.ends[:0], n.died[:0]
	n.began, n.ended = false, false
}
