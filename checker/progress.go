package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
	"github.com/lockstorm/lockstorm/nemesis"
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
	needed timeline.Electorate // nodes of which a client has to reach a quorum

	timeline *timeline.Timeline
	waiting  timeline.PerResource[waiting]
	waits    timeline.PerHold[bool] // the try counts as waiting
	instant  instant
	excuses  excuses
	quiet    history.Time // the last effect of a fault that can have caused anybody's wait
	long     []longWait   // waits that were too long and are not excused

	tries  int
	grants int
}

func newProgress(line *timeline.Timeline, s *shared) propertyChecker {
	h := line.Header
	needed := timeline.ElectorateOf(h)
	if needed.None() {
		needed = timeline.AllAlike(h.Nodes)
	}
	return &progress{
		bound: h.Bounds.Grant, ttl: h.LongestTTL, needed: needed,
		timeline: line, quiet: timeline.LongAgo, excuses: newExcuses(needed.Nodes(), line.Header.Clients),
		instant: instant{called: make([]*timeline.Hold, 0, 4)},
	}
}

func (p *progress) Wants() timeline.Kinds {
	if p.bound == 0 {
		return 0
	}
	keys := timeline.KindSet(history.KeySet, history.KeyGone, history.KeyExtended)
	if p.timeline.Header.Watched {
		keys = timeline.KindSet(history.EntriesSeen) // keys are recorded late
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
	for _, k := range n.keys {
		p.key(k, n.now)
	}
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
	return now > p.due(w) && (!w.long || p.excusable(h.Resource, now) != nil && p.blocked(h)) && p.able(h) && !heldBy(h.Resource, but, now)
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
	return !heldBy(r, nil, timeline.Forever) && slices.ContainsFunc(r.Holds, func(h *timeline.Hold) bool { return *p.waits.Of(h) && p.able(h) })
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

// instant collects the events of one instant for the checker of deadlock freedom, because they
// may come in any order.
type instant struct {
	now history.Time

	called  []*timeline.Hold // tries
	granted []*timeline.Hold
	refused []refusal
	left    []*timeline.Hold // holds whose release has returned, and tries that entered a hold again
	freed   []freed
	keys    []keyNews

	began  []concern // things that faults do
	ended  []concern
	starts []*ongoingFault
	over   []*ongoingFault
	shown  []int              // numbers of faults that show what they do
	mended []cutLinks         // links that are up again
	linked []*timeline.Client // clients of which a link has changed
	died   []*timeline.Client
}

// refusal is a try that was refused.
type refusal struct {
	hold   *timeline.Hold
	reason string
}

// freed is a hold that may have ended.
type freed struct {
	hold *timeline.Hold
	by   history.Kind
}

// Observe notes what happens in the instant.
func (p *progress) Observe(f *timeline.Fact) {
	n := &p.instant
	n.now = f.Time
	switch f.Kind {
	case history.Acquire, history.Granted, history.Refused, history.Release, history.Released, history.Lost, history.Lapse:
		if f.Hold != nil {
			n.addHold(f)
		}
	case timeline.Reentered:
		n.left = append(n.left, f.Try)
	case history.EntriesSeen:
		if f.Silence() > p.patience() {
			n.ended = append(n.ended, concern{everybody: f.Node == 0 || p.excuses.voters.Has(f.Node)})
		}
	case history.KeySet, history.KeyGone, history.KeyExtended:
		n.keys = append(n.keys, keyNews{
			resource: f.Locked, node: f.Node, token: f.Token, client: f.Client, kind: f.Kind,
			expired: f.Reason == history.Expired, endless: f.Detail == history.NoExpiry,
		})
	default:
		p.observeFault(f)
	}
}

func (n *instant) addHold(f *timeline.Fact) {
	switch f.Kind {
	case history.Acquire:
		n.called = append(n.called, f.Hold)
	case history.Granted:
		n.granted = append(n.granted, f.Hold)
	case history.Refused:
		n.refused = append(n.refused, refusal{f.Hold, f.Reason})
	case history.Released:
		n.left = append(n.left, f.Hold)
	default:
		n.freed = append(n.freed, freed{f.Hold, f.Kind})
	}
}

// observeFault notes what befalls nodes, clients and links.
func (p *progress) observeFault(f *timeline.Fact) {
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
		c.everybody = x.voters.Has(f.Node)
	case history.LinkDown, history.LinkUp:
		n.linked = append(n.linked, f.Actor)
		if x.voters.Has(f.Node) {
			c.client = f.Actor
		}
		if f.Kind == history.LinkUp && f.LinkChanged {
			n.mended = append(n.mended, cutLinks{f.Actor, timeline.Node(f.Node)})
		}
	case history.Kill:
		n.died = append(n.died, f.Actor)
		c.client = f.Actor
	default:
		c.client = f.Actor
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
func (n *instant) grants(r *timeline.Resource) bool {
	return slices.ContainsFunc(n.granted, func(h *timeline.Hold) bool { return h.Resource == r })
}

// clear keeps the lists for the next instant.
func (n *instant) clear() {
	n.called, n.granted, n.refused, n.left = n.called[:0], n.granted[:0], n.refused[:0], n.left[:0]
	n.freed, n.keys, n.died = n.freed[:0], n.keys[:0], n.died[:0]
	n.began, n.ended, n.starts, n.over = n.began[:0], n.ended[:0], n.starts[:0], n.over[:0]
	n.shown, n.mended, n.linked = n.shown[:0], n.mended[:0], n.linked[:0]
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
	kept  []keptKey    // keys on the nodes

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

// held reports whether a client holds the resource since before now, other than by one hold.
// A hold that nothing can end does not count.
func heldBy(r *timeline.Resource, but *timeline.Hold, now history.Time) bool {
	for _, h := range r.Holds {
		if h != but && h.Leased() && h.Windows[timeline.LeaseWindow].From < now && !h.Orphaned() {
			return true
		}
	}
	return false
}

// call begins a try. If there was none for the bound, a new wait begins with it.
func (w *waiting) call(now history.Time, bound time.Duration) {
	if w.open == 0 && (now.Sub(w.tried) > bound || !w.ever) {
		w.since = now
	}
	w.tried, w.ever = now, true
}

// excuses says which faults can have made clients wait for a resource. A fault that cannot have is no
// reason to count a wait anew, and its end does not excuse a wait that was too long.
//
// What a fault does shows in the history: nodes that go down, links, pauses, deaths, and the machine
// whose clocks it makes wrong. It concerns a resource if it befalls a node that keeps the lock, or a
// client that has ever asked for the resource; of a link it has to befall both. A fault that shows nothing
// of the kind, or is of an unknown kind, may concern everybody.
//
// When such a thing begins or ends, the wait counts anew. After that a node or a client that stays away
// is no excuse, and so it is none when it comes back: a lock has to go on without it. What can keep
// clients waiting for as long as it lasts is a link that is down, or a clock that is wrong.
type excuses struct {
	voters  timeline.Nodes // that keep the lock
	faults  map[int]*ongoingFault
	cut     []timeline.Nodes               // by client: the links that were down before this instant
	clocks  []clockFault                   // of nodes that keep the lock
	unnamed history.Time                   // when a fault of unknown kind first began; forever: there was none
	hidden  history.Time                   // when the last fault began that goes on and shows nothing yet, although its kind does
	users   timeline.PerResource[[]uint64] // the clients that have asked for it, a bit each
}

// ongoingFault is a fault that has begun and not ended.
type ongoingFault struct {
	number  int
	began   history.Time
	kind    nemesis.Kind
	machine nemesis.Machine
	shown   bool // the history shows something that it does
	begins  bool // in this instant
}

// clockFault is a time in which the clocks of a node may have been wrong.
type clockFault struct {
	node int
	timeline.Fault
}

// concern is whose waits something can have caused.
type concern struct {
	everybody bool
	client    *timeline.Client // nil: nobody's, or everybody's
}

func (c concern) none() bool { return !c.everybody && c.client == nil }

func newExcuses(voters timeline.Nodes, clients int) excuses {
	return excuses{
		voters: voters, faults: map[int]*ongoingFault{}, unnamed: timeline.Forever, hidden: timeline.LongAgo,
		cut: make([]timeline.Nodes, 0, 1+min(clients, 64)),
	}
}

// use notes that a client asks for the resource.
func (x *excuses) use(r *timeline.Resource, c *timeline.Client) {
	users, word := x.users.Of(r), c.Number/64
	for len(*users) <= word {
		*users = append(*users, 0)
	}
	(*users)[word] |= 1 << (c.Number % 64)
}

// usedBy reports whether a client has asked for the resource.
func (x *excuses) usedBy(r *timeline.Resource, c *timeline.Client) bool {
	users, word := *x.users.Of(r), c.Number/64
	return word < len(users) && users[word]>>(c.Number%64)&1 != 0
}

// resources lists the resources whose waits something can have caused, in the order of their names.
func (x *excuses) resources(line *timeline.Timeline, c concern) []*timeline.Resource {
	if c.none() {
		return nil
	}
	return slices.DeleteFunc(line.ResourcesInOrder(), func(r *timeline.Resource) bool { return !c.everybody && !x.usedBy(r, c.client) })
}

// shows is what the history shows of faults: nodes that go down, links, pauses and deaths.
const shows = nemesis.TakesDown | nemesis.StopsNode | nemesis.ReturnsErrors | nemesis.CutsPeers |
	nemesis.CutsLinks | nemesis.Delays | nemesis.Narrows | nemesis.Loses | nemesis.Resets |
	nemesis.StopsClient | nemesis.EndsClient

// concern returns whose waits the fault can have caused, other than by what the history shows of it.
func (f *ongoingFault) concern(line *timeline.Timeline, voters timeline.Nodes) concern {
	switch {
	case f.kind.Does(nemesis.DelaysAccess): // nothing that a lock does
		return concern{}
	case f.isClock() && f.machine.Node != 0:
		return concern{everybody: voters.Has(f.machine.Node)}
	case f.isClock() && f.machine.Client != 0:
		return concern{client: line.Client(f.machine.Client)}
	}
	return concern{everybody: !f.shown || !f.kind.Does(shows)}
}

func (f *ongoingFault) isClock() bool { return f.kind.Does(nemesis.StepsClock | nemesis.WandersClock) }

// starts notes that a fault begins, and returns it.
func (x *excuses) starts(f *timeline.Fact) *ongoingFault {
	on := &ongoingFault{number: f.Fault, began: f.Time, kind: nemesis.Kind(f.Name), machine: nemesis.Machine{Node: f.Node, Client: f.Client}, begins: true}
	x.faults[f.Fault] = on
	switch {
	case f.Name == "":
		x.unnamed = min(x.unnamed, f.Time)
	case x.voters.Has(f.Node):
		x.clocks = append(x.clocks, clockFault{f.Node, timeline.Fault{About: f.Subject(), Kind: nemesis.Kind(f.Name), From: f.Time, Open: true}})
	}
	return on
}

// ends notes that a fault ends, and returns it.
func (x *excuses) ends(f *timeline.Fact) *ongoingFault {
	on := x.faults[f.Fault]
	delete(x.faults, f.Fault)
	for i := range x.clocks {
		if v := &x.clocks[i]; v.About.Number == f.Fault && v.Open {
			v.Open, v.Ended, v.To = false, true, f.Time
		}
	}
	return on
}

// shown notes what the history shows in an instant of faults, by their numbers, including those that
// have ended in it.
func (x *excuses) shown(numbers []int, over []*ongoingFault) {
	for _, number := range numbers {
		if on := x.faults[number]; on != nil {
			on.shown = true
		}
		for _, on := range over {
			on.shown = on.shown || on.number == number
		}
	}
	x.hidden = timeline.LongAgo
	for _, on := range x.faults {
		if on.kind.Does(shows) && !on.shown {
			x.hidden = max(x.hidden, on.began)
		}
	}
}

// begun ends an instant: what has begun in it goes on from now on.
func (x *excuses) begun(linked []*timeline.Client) {
	for _, on := range x.faults {
		on.begins = false
	}
	for _, c := range linked {
		for len(x.cut) <= c.Number {
			x.cut = append(x.cut, 0)
		}
		x.cut[c.Number] = c.Unlinked & x.voters
	}
}

// cutLinks are the links of a client that are down.
type cutLinks struct {
	client *timeline.Client
	nodes  timeline.Nodes
}

// present returns what goes on that can have made clients wait for a resource until now: links that are
// down, and faults.
func (x *excuses) present(line *timeline.Timeline, r *timeline.Resource) (links []cutLinks, faults []int) {
	for number, cut := range x.cut {
		if c := line.Client(number); cut != 0 && x.usedBy(r, c) {
			links = append(links, cutLinks{c, cut})
		}
	}
	for number, on := range x.faults {
		if c := on.concern(line, x.voters); !on.begins && (c.everybody || c.client != nil && x.usedBy(r, c.client)) {
			faults = append(faults, number)
		}
	}
	return links, faults
}

// slow reports whether the clock of a node may have been slow while it kept a key that was due at an
// instant: a fault made it wrong before the key was due, and was not over when the key was given its
// time to live.
func (x *excuses) slow(node int, given, due history.Time) bool {
	if x.unnamed <= due {
		return true
	}
	return slices.ContainsFunc(x.clocks, func(v clockFault) bool { return v.node == node && v.From <= due && v.Affects(given) })
}

// keptKey is a key of a resource on a node, as deadlock freedom follows it.
type keptKey struct {
	node     int
	token    string
	client   int // that set it; 0: not known
	set      history.Time
	extended history.Time // when it was last; [timeline.LongAgo]: never
	by       int          // the client that extended it
	endless  bool         // it has no expiry
	late     bool         // no try for it was under way when it was set
	passed   bool         // it stood in nobody's way: somebody was granted the lock beside it
	end      ending       // how its try or hold ended; the zero value: it goes on
	reason   string       // of a refusal
}

// given returns when the key was last given its time to live.
func (k *keptKey) given() history.Time { return max(k.set, k.extended) }

// keyNews is a key that a node set, lost or extended.
type keyNews struct {
	resource *timeline.Resource
	node     int
	token    string
	client   int // who set or extended it
	kind     history.Kind
	expired  bool
	endless  bool
}

// key follows the keys on the nodes. If a key expires that was set before a wait began, then by the
// clock of its node the longest TTL had not passed before. That excuses the wait if a fault made the
// clock wrong. On a node with a right clock a key that lives longer is the lock's own doing.
func (p *progress) key(n keyNews, now history.Time) {
	w := p.of(n.resource)
	i := slices.IndexFunc(w.kept, func(k keptKey) bool { return k.node == n.node })
	switch {
	case n.kind == history.KeyExtended && i >= 0:
		k := &w.kept[i]
		k.extended, k.by, k.endless = now, n.client, n.endless
		return
	case n.kind == history.KeySet:
		h := n.resource.Find(n.token)
		k := keptKey{node: n.node, token: n.token, client: n.client, set: now, extended: timeline.LongAgo, endless: n.endless, late: h == nil || h.Over && h.EndedAt < now}
		if i >= 0 {
			k.set = w.kept[i].set
			w.kept = slices.Delete(w.kept, i, i+1)
		}
		if w.kept == nil {
			w.kept = make([]keptKey, 0, p.excuses.voters.Count())
		}
		w.kept = append(w.kept, k)
		return
	case i < 0 || n.kind != history.KeyGone:
		return
	}
	k := w.kept[i]
	w.kept = slices.Delete(w.kept, i, i+1)
	if n.expired && p.slow(&k) {
		if k.set <= p.start(w) {
			w.clear, w.long = now, false
		}
		p.long = timeline.Without(p.long, func(l *longWait) bool { return l.resource == n.resource && k.set <= l.start && l.at <= now })
	}
}

// slow reports whether a fault can have made the clock of the key's node slow, so that it keeps the key
// for longer.
func (p *progress) slow(k *keptKey) bool {
	return p.excuses.slow(k.node, k.given(), k.given().Add(p.ttl))
}

// endKeys notes on the keys of a token how its try or hold ended.
func (w *waiting) endKeys(h *timeline.Hold, by history.Kind, at history.Time, reason string) {
	for i := range w.kept {
		if k := &w.kept[i]; k.token == h.Token && k.end == (ending{}) {
			k.end, k.reason = ending{by, h.Client.Number, at}, reason
		}
	}
}

// pass notes that a hold was granted beside the keys of others, which were there when it was called.
func (w *waiting) pass(h *timeline.Hold) {
	for i := range w.kept {
		if k := &w.kept[i]; k.token != h.Token && k.set < h.Acquire.At {
			k.passed = true
		}
	}
}

// inTheWay lists the keys of others that stand in the way of a try.
func (w *waiting) inTheWay(h *timeline.Hold) (list []keptKey) {
	for _, k := range w.kept {
		if k.token != h.Token && !k.passed {
			list = append(list, k)
		}
	}
	return list
}

// blocked reports whether keys that should have expired before the wait became too long, by right
// clocks, keep the try from a quorum. No other fault can have caused that.
func (p *progress) blocked(h *timeline.Hold) bool {
	w, stale := p.of(h.Resource), timeline.Nodes(0)
	for _, k := range w.inTheWay(h) {
		if k.given() <= p.start(w) && !p.slow(&k) {
			stale = stale.With(k.node)
		}
	}
	return stale != 0 && !p.needed.Quorum(p.reached(h)&^stale)
}

// tryEnd is a way in which tries ended.
type tryEnd struct {
	reason string
	count  int
}

// maxEnds bounds the ways that are told apart.
const maxEnds = 4

// ended counts how a try ended. Ways beyond the bound count as other ones.
func (w *waiting) ended(reason string) {
	if i := slices.IndexFunc(w.ends, func(e tryEnd) bool { return e.reason == reason }); i >= 0 {
		w.ends[i].count++
		return
	}
	if len(w.ends) == maxEnds {
		w.ends[maxEnds-1].reason = otherReasons
		w.ends[maxEnds-1].count++
		return
	}
	if w.ends == nil {
		w.ends = make([]tryEnd, 0, maxEnds)
	}
	w.ends = append(w.ends, tryEnd{reason, 1})
}

const otherReasons = "other reasons"

// causes returns what prevented the grant.
func (p *progress) causes(h *timeline.Hold, now history.Time) []Cause {
	r := h.Resource
	for _, o := range r.Holds {
		if o.Leased() && o.Orphaned() {
			died := Event{Role: RoleFault, From: o.GrantedAt, To: o.Client.Died, Client: o.Client.Number, Resource: r.Name, Token: o.Token}
			return broken(Releases, died.say("client %d, which was granted it at %s without an end, died at %s", died.Client, at(o.GrantedAt), at(died.To)))
		}
	}
	start, slow, old := p.start(p.of(r)), timeline.Nodes(0), false
	for _, k := range p.of(r).inTheWay(h) {
		switch {
		case k.set > start:
		case p.slow(&k) && k.extended <= start:
			slow = slow.With(k.node)
		default:
			old = true
		}
	}
	switch {
	case slow != 0:
		kept := Event{Role: RoleLoss, Nodes: listNodes(slow, nil), Resource: r.Name}
		return broken(KeysExpire, kept.say("%v still kept a key from before", slow))
	case old:
		return unbroken(p.obstacles(h, now)...)
	}
	if v := p.timeline.ForgetfulLeader; v.Node != 0 {
		return broken(StoreKeeps, tellLeader(v))
	}
	if clones := p.timeline.Faults.Clones(); len(clones) > 0 {
		return broken(DelaysDiffer, tellFaults(clones)...)
	}
	if o := p.lastOutlived(r, start, now); o != nil {
		return unbroken(o.event())
	}
	return unbroken(p.obstacles(h, now)...)
}

// maxObstacles bounds the keys, and the tries, that are told.
const maxObstacles = 3

// obstacles tells what stood in the way of a try, as far as the history shows it: the keys of others,
// how tries ended, and who else waits.
func (p *progress) obstacles(h *timeline.Hold, now history.Time) (told []Event) {
	w := p.of(h.Resource)
	switch header := p.timeline.Header; {
	case timeline.ElectorateOf(header).None():
	case timeline.ExactKeys(header):
		told = p.tellKeys(h, now)
	case !header.Keys:
		told = []Event{{Role: RoleUnseen, Text: noKeys}}
	}
	if len(w.ends) > 0 {
		told = append(told, w.tellEnds(h.Resource.Name))
	}
	others := 0
	for _, o := range h.Resource.Holds {
		if o != h && *p.waits.Of(o) {
			if others++; others <= maxObstacles {
				e := Event{Role: RoleWait, From: o.Acquire.At, Client: o.Client.Number, Resource: h.Resource.Name, Token: o.Token}
				told = append(told, e.say("client %d (token %s) still waited, having called acquire at %s", e.Client, short(o.Token), at(o.Acquire.At)))
			}
		}
	}
	if len(told) == 0 {
		return []Event{{Role: RoleWait, Text: "the lock itself granted it to nobody"}}
	}
	return told
}

// tellEnds tells how tries ended since the last grant.
func (w *waiting) tellEnds(resource string) Event {
	count, ways := 0, []string(nil)
	for _, e := range w.ends {
		count += e.count
		if e.reason != "" {
			ways = append(ways, fmt.Sprintf("%s (%d)", e.reason, e.count))
		}
	}
	e := Event{Role: RoleWait, Resource: resource, Text: "1 try was refused"}
	if count != 1 {
		e = e.say("%d tries in a row were refused", count)
	}
	if len(ways) > 0 {
		e.Text += ": " + strings.Join(ways, ", ")
	}
	return e
}

// tellKeys tells the keys of others that stand in the way, or that there are none. Keys of a token are
// told together.
func (p *progress) tellKeys(h *timeline.Hold, now history.Time) (told []Event) {
	keys, resource := p.of(h.Resource).inTheWay(h), h.Resource.Name
	if len(keys) == 0 {
		return []Event{Event{Role: RoleWait, Resource: resource}.say("no recorded key of %s stood in the way", quoted(resource))}
	}
	slices.SortStableFunc(keys, func(a, b keptKey) int { return cmp.Or(cmp.Compare(a.set, b.set), cmp.Compare(a.node, b.node)) })
	for len(keys) > 0 && len(told) < maxObstacles {
		first := keys[0]
		e := Event{Role: RoleLoss, Client: first.client, Resource: resource, Token: first.token}
		keys = timeline.Without(keys, func(k *keptKey) bool {
			if k.token != first.token {
				return false
			}
			e.Nodes = append(e.Nodes, NodeTime{Node: k.node, At: k.set})
			return true
		})
		whose := "a key"
		if first.client != 0 {
			whose = fmt.Sprintf("client %d's key", first.client)
		}
		told = append(told, e.say("%v kept %s (token %s), set %s%s", setOf(e.Nodes), whose, short(first.token), times(e.Nodes), p.about(&first, now)))
	}
	return told
}

// about says why a key stood in the way, and how its try or hold had ended.
func (p *progress) about(k *keptKey, now history.Time) (text string) {
	if k.late {
		text = " with no try for it under way"
	}
	switch lived := now.Sub(k.given()); {
	case k.endless:
		text += ", which had no expiry"
	case k.extended > timeline.LongAgo:
		text += fmt.Sprintf(", which %s went on to extend, last at %s", clientOrSome(k.by), at(k.extended))
	case lived > p.ttl && !p.slow(k):
		text += fmt.Sprintf(", for %s, longer than the longest TTL, %v, and no fault made a clock slow there", textfmt.FourDigits(lived), p.ttl)
	}
	end := k.end
	if c := p.timeline.Client(k.client); k.client != 0 && end == (ending{}) && c.Dead {
		end = ending{history.Kill, k.client, c.Died}
	}
	switch end.by {
	case history.Refused:
		text += fmt.Sprintf("; client %d had been refused at %s", end.client, at(end.at))
		if k.reason != "" {
			text += fmt.Sprintf(" (%s)", k.reason)
		}
	case history.Lost:
		text += fmt.Sprintf("; client %d had been told of its loss at %s", end.client, at(end.at))
	case history.Lapse:
		text += fmt.Sprintf("; its validity had ended at %s", at(end.at))
	case history.Kill:
		text += fmt.Sprintf("; client %d had died at %s", end.client, at(end.at))
	case history.Release:
		text += fmt.Sprintf("; client %d had called release at %s", end.client, at(end.at))
	}
	return text
}

// lastOutlived returns the last try since an instant that took longer than its TTL, or nil.
// Tries under way count, too.
func (p *progress) lastOutlived(r *timeline.Resource, from, now history.Time) *outlivedTry {
	if o := p.of(r).outlived; o != nil && o.at > from {
		return o
	}
	for _, h := range r.Holds {
		if h.Acquire.Open {
			if o := outlived(h, p.needed, now); o != nil {
				return o
			}
		}
	}
	return nil
}
