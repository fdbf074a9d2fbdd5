package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// DeadlockFreedom says that after faults have ended, some client is granted the lock again.
const DeadlockFreedom Property = "deadlock_freedom"

// progress judges deadlock freedom: when faults have ended, every hold has ended and
// the longest TTL has passed, some waiting client is granted the lock within the
// bound. Holds that can be shared need not end if they leave enough permits for each client
// that waits.
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
// Without a fault a lock has no reason to wait for the TTL. If the bound of a free resource is stated,
// no resource may be free for longer while a client waits for it: see [vacancies]. A lock that promises
// fairness does not refuse a client more often in a row, while it is granted to others, than its bound says.
//
// A wait that was too long during a fault is forgotten if that fault ends later, and can
// have caused the wait for as long as it lasted. A fault that never ends is no excuse, and
// none is one for keys that outlive their TTL on nodes with right clocks.
type progress struct {
	bound  time.Duration // 0: not judged
	ttl    time.Duration
	needed timeline.Electorate // nodes of which a client has to reach a quorum

	timeline *timeline.Timeline
	waiting  timeline.PerResource[waiting]
	waits    timeline.PerHold[bool] // the try counts as waiting
	instant  instant
	excuses  excuses
	quiet    history.Time // the last effect of a fault that can have caused anybody's wait
	long     []longWait   // waits that were too long and are not excused
	free     *vacancies   // nil: no bound of what it measures is stated
	vacant   violations   // of such a bound

	tries  int
	grants int
}

// The duties of deadlock freedom, besides that somebody is granted the lock after faults.
const (
	GrantsFreeLock   Duty = "grants-free-lock"   // a free lock is granted to a client that waits for it
	GrantsEachClient Duty = "grants-each-client" // no client waits while others are granted the lock again and again
)

func newProgress(line *timeline.Timeline, s *shared) propertyChecker {
	h := line.Header
	needed := timeline.ElectorateOf(h)
	if needed.None() {
		needed = timeline.AllAlike(h.Nodes)
	}
	p := &progress{
		bound: h.Bounds.Grant, ttl: h.LongestTTL, needed: needed,
		timeline: line, quiet: timeline.LongAgo, excuses: newExcuses(needed.Nodes(), line.Header.Clients),
		instant: instant{called: make([]*timeline.Hold, 0, 4)},
	}
	if h.Bounds.Grant > 0 && (h.Bounds.Free > 0 || h.Bounds.Refusals > 0) {
		p.free = s.readVacancies(line, p)
	}
	return p
}

func (p *progress) Wants() timeline.Kinds {
	if p.bound == 0 {
		return 0
	}
	keys := timeline.KindSet(history.KeySet, history.KeyGone, history.KeyExtended)
	if p.timeline.Header.Watched {
		keys |= timeline.KindSet(history.EntriesSeen) // keys are recorded late, and explain only
	}
	return keys | timeline.KindSet(history.Acquire, history.Granted, timeline.Reentered, history.Refused, history.Release, history.Released, history.Lost, history.Lapse,
		history.FaultStart, history.FaultEnd,
		history.NodeDown, history.NodeUp, history.LinkDown, history.LinkUp, history.Pause, history.Resume, history.Kill, history.Cancel)
}

// Settle judges the instant that is over. Ends of holds and faults count first, begins of
// faults last: a client that is refused in the instant in which a node comes up has not
// waited too long, and a client that has waited too long when a node goes down has.
func (p *progress) Settle() {
	n := &p.instant
	if !n.more {
		p.settleKeys()
		return
	}
	for _, f := range n.freed {
		if h := f.hold; h.Granted {
			p.of(h.Resource).endKeys(h, f.by, n.now, "")
			if h.GrantedAt < n.now {
				p.of(h.Resource).freed = n.now
			}
		}
	}
	if len(n.starts)+len(n.over)+len(n.shown) > 0 {
		p.excuses.shown(n.shown, n.over)
	}
	for _, f := range n.over {
		n.ended = append(n.ended, f.concern(p.timeline, p.excuses.voters))
	}
	for _, c := range n.ended {
		p.restart(c)
	}
	p.excuse()
	p.settleKeys()
	p.judgeTries()
	for _, c := range n.died {
		for _, h := range c.Holds {
			p.stopWaiting(h)
		}
	}
	for _, f := range n.starts {
		if !f.kind.Does(shows) {
			n.began = append(n.began, f.concern(p.timeline, p.excuses.voters))
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

// settleKeys follows the keys that have changed in the instant. In most instants nothing else happens.
func (p *progress) settleKeys() {
	n := &p.instant
	for i := range n.keys {
		p.key(&n.keys[i], n.now)
	}
	n.keys = n.keys[:0]
}

// restart counts the waits anew that something in this instant can have caused.
func (p *progress) restart(c concern) {
	if c.everybody {
		p.quiet = p.instant.now
		return
	}
	for _, r := range p.excuses.resources(p.timeline, c) {
		p.of(r).quiet = p.instant.now
	}
}

// judgeTries judges the tries that were called, or returned, in the instant.
func (p *progress) judgeTries() {
	n := &p.instant
	for _, h := range n.called {
		p.tries++
		p.excuses.use(h.Resource, h.Client)
		p.of(h.Resource).call(n.now, p.bound)
		p.wait(h)
	}
	for _, h := range n.granted {
		p.grants++
		p.stopWaiting(h)
	}
	for _, h := range n.granted {
		p.judgeGrant(h, n.now)
	}
	for _, f := range n.refused {
		h := f.hold
		p.stopWaiting(h)
		w := p.of(h.Resource)
		w.ended(f.reason)
		w.endKeys(h, history.Refused, n.now, f.reason)
		if o := outlived(h, p.needed, n.now); o != nil {
			w.outlived = o
		}
		if w.tried, w.owed = n.now, true; !n.grants(h.Resource) && p.late(h, n.now, h) {
			p.violate(h, n.now, "refused")
		}
	}
	for _, h := range n.granted {
		w := p.of(h.Resource)
		w.since, w.owed, w.long, w.ends = n.now, false, false, w.ends[:0]
		w.pass(h)
	}
	for _, h := range n.left {
		p.stopWaiting(h)
	}
}

// late reports whether the try has waited too long: nobody holds the resource, except
// possibly the one hold. A wait is reported once, but one that a fault may excuse gives way to one
// of the same instant that none does.
func (p *progress) late(h *timeline.Hold, now history.Time, but *timeline.Hold) bool {
	w := p.of(h.Resource)
	return now > p.due(w) && (!w.long || p.excusable(h.Resource, now) != nil && p.blocked(h)) && p.able(h) && !taken(p.timeline, h.Resource, but, h.Asked, now)
}

// excusable returns the wait for the resource that was found too long at an instant, if the end of a
// fault would excuse it.
func (p *progress) excusable(r *timeline.Resource, now history.Time) *longWait {
	for i := len(p.long) - 1; i >= 0 && p.long[i].at == now; i-- {
		if l := &p.long[i]; l.resource == r && len(l.links)+len(l.faults) > 0 {
			return l
		}
	}
	return nil
}

// able reports whether the client of the try runs and reaches a quorum. Fault tolerance
// judges what a lock does without one.
func (p *progress) able(h *timeline.Hold) bool {
	return !h.Client.Dead && !h.Client.Paused && p.needed.Quorum(p.reached(h))
}

// reached are the nodes that keep the lock and that the client of the try reaches.
func (p *progress) reached(h *timeline.Hold) timeline.Nodes {
	return p.needed.Nodes() &^ (p.timeline.Down | h.Client.Unlinked | p.timeline.SilentNodes(p.instant.now, p.patience()))
}

// patience is how long a node may take to answer its watch. After that it is not in reach.
func (p *progress) patience() time.Duration { return p.bound / requiredLooks }

// judgeGrant judges the tries that were under way when the bound passed, because one
// of them is granted.
func (p *progress) judgeGrant(h *timeline.Hold, now history.Time) {
	if h.Acquire.At <= p.due(p.of(h.Resource)) && p.late(h, now, h) {
		p.violate(h, now, "granted")
	}
	p.judgeOpen(h.Resource, now, h)
}

// judgeOpen judges the tries that are still under way.
func (p *progress) judgeOpen(r *timeline.Resource, now history.Time, but *timeline.Hold) {
	if p.of(r).open == 0 || now <= p.due(p.of(r)) {
		return
	}
	for _, h := range r.Holds {
		if *p.waits.Of(h) && h.Acquire.At <= p.due(p.of(r)) && p.late(h, now, but) {
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
	for _, r := range p.excuses.resources(p.timeline, c) {
		p.judgeOpen(r, now, nil)
	}
}

// violate reports that the try of a client has waited for too long; how is the evidence.
func (p *progress) violate(h *timeline.Hold, now history.Time, how string) {
	r := h.Resource
	start := p.start(p.of(r))
	p.of(r).long = true
	l := longWait{resource: r, at: now, start: start, told: Finding{
		Events: append([]Event{p.waited(h, start, now, how)}, eventsOf(p.timeline.Faults.Between(now, now), now-1, false)...),
		Causes: p.causes(h, now),
		Where:  &Place{Resource: r.Name, From: start, To: now},
	}}
	if !p.blocked(h) {
		l.links, l.faults = p.excuses.present(p.timeline, r)
	}
	if excusable := p.excusable(r, now); excusable != nil {
		*excusable = l
	} else {
		p.long = append(p.long, l)
	}
}

// waited describes a wait that was too long since an instant, and how it ended.
func (p *progress) waited(h *timeline.Hold, start, now history.Time, how string) Event {
	text := fmt.Sprintf("at %s client %d still waited for %s, having called acquire at %s", at(now), h.Client.Number, quoted(h.Resource.Name), at(h.Acquire.At))
	switch how {
	case "refused":
		text = fmt.Sprintf("at %s client %d was refused %s once more", at(now), h.Client.Number, quoted(h.Resource.Name))
	case "granted":
		text = fmt.Sprintf("client %d was granted %s only at %s, having called acquire at %s", h.Client.Number, quoted(h.Resource.Name), at(now), at(h.Acquire.At))
	}
	e := Event{Role: RoleWait, From: start, To: now, Client: h.Client.Number, Resource: h.Resource.Name, Token: h.Token}
	held := "nobody held it"
	if p.timeline.Header.Permits() > 1 {
		held = "there were permits enough for each who waited"
	}
	return e.say("%s, and nobody had been granted it since %s, though %s, no fault that can hold up a grant began or ended, and the longest TTL, %v, and the bound, %v, had passed",
		text, at(start), held, p.ttl, p.bound)
}

// leastVacancy implements [vacancyReader].
func (p *progress) leastVacancy() time.Duration {
	return cmp.Or(p.timeline.Header.Bounds.Free, math.MaxInt64)
}

// vacancy judges how long a free resource was granted to nobody.
func (p *progress) vacancy(v vacancy) {
	bound, w := p.timeline.Header.Bounds.Free, p.of(v.resource)
	if w.vacant && w.vacantSince == v.from {
		return
	}
	w.vacant, w.vacantSince = true, v.from
	p.vacant.add(func() Finding {
		return Finding{
			Duty:   v.duty(),
			Events: []Event{v.tell(bound)},
			Causes: unbroken(p.obstacles(v.waiter, v.from, v.to)...),
			Where:  &Place{Resource: v.resource.Name, From: v.from, To: v.to},
		}
	})
}

// refusal judges a lock that promises fairness: how often it refuses a client while others are granted it.
func (p *progress) refusal(r Refusal) {
	most := p.timeline.Header.Bounds.Refusals
	if most == 0 || r.InRow != most+1 {
		return
	}
	h, now := r.try, p.timeline.Now
	p.vacant.add(func() Finding {
		e := during(h, RoleWait, h.Acquire.At, now)
		return Finding{
			Duty: GrantsEachClient,
			Events: []Event{e.say("client %d was refused %s at %s once more: %s in a row, more than %d, while others were granted it, and no fault went on",
				e.Client, quoted(e.Resource), at(now), counted(r.InRow, "try"), most)},
			Causes: unbroken(Event{Role: RoleWait, Text: "the lock itself preferred others"}),
			Where:  &Place{Resource: e.Resource, Client: e.Client, From: h.Acquire.At, To: now},
		}
	})
}

// neverGranted returns the finding if nobody was ever granted the lock though no fault took place. Nobody's
// keys can then have been in the way but those of other tries, however far apart the tries were.
func (p *progress) neverGranted(end history.Time) (Finding, bool) {
	const few = 3 // as many can be split by chance
	if p.free == nil || p.timeline.Header.Bounds.Free == 0 || !p.free.undisturbed() || p.tries < few {
		return Finding{}, false
	}
	for _, r := range p.timeline.ResourcesInOrder() {
		w := p.of(r)
		if bound := p.timeline.Header.Bounds.Free; w.tried.Sub(w.first) > bound && w.owed {
			e := Event{Role: RoleWait, From: w.first, To: end, Resource: r.Name}
			f := because(Violated, e.say("nobody was ever granted %s, though clients tried from %s to %s, for more than %v, and no fault took place", quoted(r.Name), at(w.first), at(w.tried), bound))
			f.Count, f.Causes, f.Where = 1, unbroken(w.tellEnds(r.Name)), &Place{Resource: r.Name, From: w.first, To: end}
			return f, true
		}
	}
	return Finding{}, false
}

// excuse forgets the waits that were too long only while a link was down that is up now, or a fault
// went on that has ended.
func (p *progress) excuse() {
	n := &p.instant
	if len(p.long) == 0 || len(n.mended)+len(n.over) == 0 {
		return
	}
	p.long = timeline.Without(p.long, func(l *longWait) bool {
		up := slices.ContainsFunc(n.mended, func(m cutLinks) bool {
			return slices.ContainsFunc(l.links, func(c cutLinks) bool { return c.client == m.client && c.nodes&m.nodes != 0 })
		})
		over := slices.ContainsFunc(n.over, func(f *ongoingFault) bool { return slices.Contains(l.faults, f.number) })
		if up || over {
			p.of(l.resource).long = false
		}
		return up || over
	})
}

// owing returns a resource that was granted to nobody since the last effect of a fault, though a
// try was refused or is in progress.
func (p *progress) owing() *timeline.Resource {
	for _, r := range p.timeline.ResourcesInOrder() {
		if p.disturbed(p.of(r)) > p.of(r).since && (p.of(r).owed || p.awaited(r)) {
			return r
		}
	}
	return nil
}

// awaited reports whether nobody holds the resource and a client waits for it that could
// be granted it.
func (p *progress) awaited(r *timeline.Resource) bool {
	return !taken(p.timeline, r, nil, 1, timeline.Forever) && slices.ContainsFunc(r.Holds, func(h *timeline.Hold) bool { return *p.waits.Of(h) && p.able(h) })
}

func (p *progress) finding(end history.Time) Finding {
	if p.bound > 0 {
		p.instant.now = end
		p.judgeOpenOf(concern{everybody: true})
	}
	if p.free != nil {
		p.free.passOpen()
	}
	never, ever := p.neverGranted(end)
	silent := p.silentAt(end)
	owing := p.owing()
	switch {
	case p.bound == 0:
		return notExercised(NotApplicable, noBound)
	case len(p.long) > 0:
		f := p.long[0].told
		f.Verdict, f.Count = Violated, len(p.long)
		return f
	case p.vacant.count > 0:
		return p.vacant.violated()
	case p.tries == 0:
		return notExercised(NotApplicable, "nobody waited for the lock")
	case p.grants == 0 && ever:
		return never
	case p.grants == 0:
		f := notExercised(Unknown, "nobody was granted the lock, and nobody waited for long enough with a majority of the nodes in reach")
		f.Where = &Place{From: end, To: end}
		return f
	case owing != nil:
		quiet := p.disturbed(p.of(owing))
		e := Event{Role: RoleUnseen, From: quiet, To: end, Resource: owing.Name}
		why := fmt.Sprintf("the history ends at %s, too soon to tell", at(end))
		if end > p.due(p.of(owing)) && !p.awaited(owing) {
			why = "nobody who waits for it reaches a majority of the nodes"
			if e.Nodes = silent; len(silent) > 0 {
				why += fmt.Sprintf(": %v last answered their watch %s", setOf(silent), times(silent))
			}
		}
		f := because(Unknown, e.say("nobody was granted %s after faults had last done something, at %s, and %s", quoted(owing.Name), at(quiet), why))
		f.Where = &Place{Resource: owing.Name, From: quiet, To: end}
		return f
	}
	waited := Event{Role: RoleWait}
	return because(Holds, waited.say("%s, and none was waited for longer than %v when nothing stood in the way", counted(p.grants, "grant"), p.bound))
}

// silentAt returns the nodes that do not answer their watch any more when the history ends, with when
// they last did. Since then nothing is known of waits.
func (p *progress) silentAt(end history.Time) (last []NodeTime) {
	for rest := p.timeline.SilentNodes(end, p.patience()) & p.excuses.voters; rest != 0; rest = rest.Without(rest.First()) {
		n := NodeTime{Node: rest.First(), At: p.timeline.Answered[0]}
		if p.timeline.Header.Keys {
			n.At = p.timeline.Answered[n.Node]
		}
		p.quiet = max(p.quiet, n.At)
		last = append(last, n)
	}
	return last
}

// waiting is the wait of clients for one resource.
type waiting struct {
	since history.Time // when the first of consecutive tries began, or the last grant
	tried history.Time // when a try last began or was refused
	ever  bool         // there was a try
	freed history.Time // when the last hold ended
	quiet history.Time // when something last began or ended that can keep its clients waiting, but no others
	clear history.Time // when the last old key expired late, by a slow clock
	open  int          // tries that have not returned
	owed  bool         // nobody has been granted the resource since a try was refused
	long  bool         // the wait has been found too long
	first history.Time // when the first try began

	goneAt      history.Time // when the last key went away
	goneFrom    int          // the node whose entry of kept is that key; 0: it is gone: see [waiting.lastGone]
	gone        keptKey      // that key, if its node has another now
	vacant      bool         // the resource has been found free for too long
	vacantSince history.Time // since then
	kept        []keptKey    // by node

	ends     []tryEnd     // how tries ended since the last grant
	outlived *outlivedTry // the last refused try that took longer than its TTL
}

// longWait is a wait that was too long.
type longWait struct {
	resource *timeline.Resource
	at       history.Time
	start    history.Time // when the wait began
	links    []cutLinks   // that excuse it when they are up again
	faults   []int        // that excuse it when they end
	told     Finding
}

// start is when the present wait began.
func (p *progress) start(w *waiting) history.Time { return max(p.disturbed(w), w.since, w.freed) }

// disturbed is when something last began or ended that can keep clients waiting for the resource.
func (p *progress) disturbed(w *waiting) history.Time { return max(p.quiet, p.excuses.hidden, w.quiet) }

// of returns the wait for a resource.
func (p *progress) of(r *timeline.Resource) *waiting { return p.waiting.Of(r) }

func (p *progress) wait(h *timeline.Hold) {
	if !h.Client.Dead {
		*p.waits.Of(h) = true
		p.of(h.Resource).open++
	}
}

func (p *progress) stopWaiting(h *timeline.Hold) {
	if waits := p.waits.Of(h); *waits {
		*waits = false
		p.of(h.Resource).open--
	}
}

// due is the instant by which some client has to be granted the resource.
func (p *progress) due(w *waiting) history.Time {
	return max(p.start(w).Add(p.ttl), w.clear).Add(p.bound)
}

// taken reports whether those who hold the resource since before now, but for one hold, leave too few permits for
// want, or for one of the tries under way: a lock may let nobody pass one that waits for more. A hold that nothing can
// end does not count. If holds are exclusive, it reports whether a client holds the resource.
func taken(line *timeline.Timeline, r *timeline.Resource, but *timeline.Hold, want int, now history.Time) bool {
	load := 0
	for _, h := range r.Holds {
		switch {
		case h != but && h.Leased() && h.Windows[timeline.LeaseWindow].From < now && !h.Orphaned():
			load += h.Weight
		case h.Acquire.Open && !h.Client.Dead:
			want = max(want, h.Asked)
		}
	}
	return load+want > line.Header.Permits()
}

// call begins a try. If there was none for the bound, a new wait begins with it.
func (w *waiting) call(now history.Time, bound time.Duration) {
	if w.open == 0 && (now.Sub(w.tried) > bound || !w.ever) {
		w.since = now
	}
	if !w.ever {
		w.first = now
	}
	w.tried, w.ever = now, true
}
