package checker

import (
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// resolve finds what the event is about and updates the state. It returns false, and
// does nothing, if the event has to wait for another of its instant. The caller then
// tries again after the others. With force it updates what it can and reports what
// contradicts the history.
func (l *state) resolve(f *fact, force bool) bool {
	c := l.client(f.Client)
	f.client = c
	if c.dead && f.posthumous() && !l.contradictDead(f, force) {
		return false
	}
	if enter := entries[f.Kind]; enter != nil && !enter(l, f, force) {
		return false
	}
	if h := f.hold; h != nil && (h.over || h.client.dead) {
		l.settling = append(l.settling, h)
	}
	return true
}

// contradictDead reports an act of a dead client.
func (l *state) contradictDead(f *fact, force bool) bool {
	return force && l.contradict("%s comes after the client's death at %s", naming(f.Event), at(f.client.died))
}

// entries are the functions that update the state, by kind of event.
var entries = [1 << 8]func(l *state, f *fact, force bool) bool{
	history.Acquire: (*state).acquire,
	history.Granted: (*state).granted,
	history.Refused: (*state).refused,

	history.Extend:       (*state).extend,
	history.Extended:     (*state).extended,
	history.ExtendFailed: (*state).extendFailed,

	history.Expiring: (*state).about,
	history.Lost:     (*state).lost,
	history.Lapse:    (*state).lapse,

	history.Release:  (*state).release,
	history.Released: (*state).released,

	history.Read:      (*state).read,
	history.ReadDone:  (*state).readDone,
	history.Write:     (*state).write,
	history.WriteDone: (*state).writeDone,
	history.Apply:     (*state).apply,

	history.Pause:  func(_ *state, f *fact, _ bool) bool { f.client.setPaused(true, f.Time); return true },
	history.Resume: (*state).resume,
	history.Kill:   (*state).kill,
	history.Cancel: func(_ *state, f *fact, _ bool) bool { f.client.cancelled = f.Time; return true },

	history.NodeDown: (*state).nodeDown,
	history.NodeUp:   (*state).nodeUp,
	history.LinkDown: (*state).linkDown,
	history.LinkUp:   (*state).linkUp,

	history.KeySet:      (*state).keyChanged,
	history.KeyExtended: (*state).keyChanged,
	history.KeyGone:     (*state).keyChanged,

	history.FaultStart: (*state).faultStart,
	history.FaultEnd:   (*state).faultEnd,

	history.Leader:    (*state).leader,
	history.EntryGone: (*state).entryGone,

	history.EntrySet:     (*state).entrySet,
	history.EntryDeleted: (*state).entryDeleted,
	history.EntriesSeen:  (*state).entriesSeen,

	history.Step: (*state).step,

	history.Check:   (*state).check,
	history.Checked: (*state).checked,
}

// isCall reports whether the kind is a call that a return ends.
func isCall(k history.Kind) bool {
	switch k {
	case history.Acquire, history.Extend, history.Release, history.Read, history.Write, history.Check:
		return true
	}
	return false
}

// close makes f the return of an open call.
func (f *fact) close(c *call) {
	if !c.open {
		return
	}
	f.call = *c
	f.took = c.took(f.client, f.Time)
	c.open = false
}

// closeTry makes f the return of a try. The time in its queue does not count.
func (f *fact) closeTry(h *hold) {
	f.close(&h.acquire)
	if h.queue != nil {
		h.queue.leave(f.client, f.Time)
		f.took -= h.queue.waited
	}
}

func isTryStep(step string) bool {
	return step == history.BeforeSend || step == history.Queued || step == history.Woken
}

// step follows a try to the instant at which it read its clock, and in and out of a queue.
func (l *state) step(f *fact, force bool) bool {
	f.hold = f.client.find(f.Event, isCalled)
	h := f.hold
	if h == nil {
		return force
	}
	if f.Name == history.BeforeSend {
		h.sends, h.sent = true, f.Time
		return true
	}
	if h.queued() == (f.Name == history.Queued) {
		return force && l.contradict("client %d, which tries for %s, is %s once more", f.Client, f.lock(), f.Name)
	}
	if f.Name == history.Woken {
		h.queue.leave(f.client, f.Time)
		return true
	}
	if h.queue == nil {
		h.queue = &queue{}
	}
	h.queue.in, h.queue.since = true, f.client.begin(f.Time)
	return true
}

func (l *state) acquire(f *fact, force bool) bool {
	if f.client.calls(f) {
		if !force {
			return false
		}
		l.twice(f, "acquire")
	}
	f.hold = l.newHold(f.Event)
	l.ended = l.ended[:0]
	return true
}

func (l *state) granted(f *fact, force bool) bool {
	if f.hold = f.client.find(f.Event, isCalled); f.hold == nil {
		if !force {
			return false
		}
		l.unasked(f, "granted")
		f.hold = l.newHold(f.Event)
	}
	l.ended = l.ended[:0]
	h := f.hold
	f.closeTry(h)
	if held := f.client.holding(f); held != nil {
		l.reenter(f, held)
		return true
	}
	f.client.held++
	h.returned, h.granted = true, f.Time
	h.keys.granted = h.keys.set
	l.declare(f, h)
	h.first = l.vouchedBy(f, h)
	h.fence = f.Fence
	if f.TTL != 0 {
		h.ttl = f.TTL
	}
	return true
}

func (l *state) refused(f *fact, force bool) bool {
	if f.hold = f.client.find(f.Event, isCalled); f.hold == nil {
		return force && l.unasked(f, "refused")
	}
	f.closeTry(f.hold)
	if f.client.holding(f) != nil {
		f.hold.keys = keys{} // the keys belong to the hold that is entered
	}
	f.hold.end(f.Time)
	return true
}

// end ends a hold, or a try that was refused.
func (h *hold) end(now history.Time) {
	h.client.drop(h)
	h.over, h.ended = true, now
}

func (l *state) extend(f *fact, force bool) bool {
	if f.hold = f.client.find(f.Event, isGranted); f.hold == nil {
		if f.hold = f.client.about(f.Event); f.hold == nil || !force {
			return force && (f.extendReleased() || l.contradict("client %d extends %s, which it does not hold", f.Client, f.lock()))
		}
	}
	h := f.hold
	if h.extend.open && h.extend.at == f.Time {
		if !force {
			return false
		}
		l.twice(f, "extend")
	}
	h.extend, h.asked = f.client.begin(f.Time), f.TTL
	h.keys.extended, h.keys.kept = 0, h.keys.set
	// Even if it fails, nodes may have been asked for the earlier end.
	if f.Until != 0 && h.returned && f.Until < h.until {
		h.declare(f.Until, f.Time)
	}
	if f.Until != 0 && h.openEnd == nil {
		l.expect(h, f.Until)
	}
	return true
}

func (l *state) extended(f *fact, force bool) bool {
	if f.hold = f.client.find(f.Event, isExtending); f.hold == nil {
		if f.releasedExtended() {
			return true
		}
		if !force {
			return false
		}
		l.uncalled(f, "an extension", &f.client.adrift.extensions)
		if f.hold = f.client.about(f.Event); f.hold == nil {
			return true
		}
	}
	f.close(&f.hold.extend)
	f.hold.keys.confirmed = f.hold.keys.extended
	l.declare(f, f.hold)
	f.hold.renewed = l.vouchedBy(f, f.hold)
	return true
}

func (l *state) extendFailed(f *fact, force bool) bool {
	if f.hold = f.client.find(f.Event, isExtending); f.hold == nil {
		return f.releasedExtended() || force && l.uncalled(f, "an extension", &f.client.adrift.extensions)
	}
	f.close(&f.hold.extend)
	return true
}

// about enters an event about a hold, which may be over by then. If it is, the event waits for a grant of
// the same instant under the same token, which begins another hold.
func (l *state) about(f *fact, force bool) bool {
	h := f.client.about(f.Event)
	if !force && (h == nil || h.returned && !h.goesOn(f.Time)) {
		return false
	}
	f.hold = h
	return true
}

func (l *state) lost(f *fact, force bool) bool {
	if !l.about(f, force) || f.hold == nil {
		return force
	}
	if h := f.hold; !h.lost {
		h.lost, h.lostAt = true, f.Time
	}
	return true
}

func (l *state) lapse(f *fact, force bool) bool {
	if !l.about(f, force) || f.hold == nil {
		return force
	}
	f.hold.lapse(f.Event)
	return true
}

// check and checked may be about a hold that is over.
func (l *state) check(f *fact, force bool) bool {
	if f.hold = f.client.find(f.Event, isHeld); f.hold == nil {
		if !force || !l.about(f, force) || f.hold == nil {
			return force
		}
	}
	f.hold.check = f.client.begin(f.Time)
	return true
}

func (l *state) checked(f *fact, force bool) bool {
	f.hold = f.client.find(f.Event, func(h *hold) bool { return h.check.open })
	if f.hold == nil {
		return force
	}
	f.close(&f.hold.check)
	return true
}

func (l *state) release(f *fact, force bool) bool {
	h := f.client.find(f.Event, isGranted)
	if h == nil {
		if h = f.client.about(f.Event); h == nil || !force {
			return force && l.contradict("client %d releases %s, which it was never granted, or has released before", f.Client, f.lock())
		}
		l.again(f, h)
	}
	if h.leave(f) {
		return true
	}
	f.hold = h
	if !h.release.open {
		h.release, h.letGo = f.client.begin(f.Time), true
	}
	h.keys.claimed = h.keys.set
	h.keys.entry.claimed = h.keys.entry.there
	return true
}

// again reports a release that was recorded before.
func (l *state) again(f *fact, h *hold) {
	switch {
	case h.over:
		l.contradict("client %d releases %s, which is over", f.Client, f.lock())
	case h.release.open && h.release.at == f.Time:
		l.twice(f, "release")
	}
}

func (l *state) released(f *fact, force bool) bool {
	if h := f.client.find(f.Event, isLeaving); h != nil {
		h.left(f)
		return true
	}
	if f.hold = f.client.find(f.Event, isReleasing); f.hold == nil {
		return force && l.uncalled(f, "a release", &f.client.adrift.releases)
	}
	f.close(&f.hold.release)
	f.hold.end(f.Time)
	f.client.rememberRelease(f.hold, f)
	return true
}

func (l *state) resume(f *fact, force bool) bool {
	if !f.client.paused {
		return force && l.contradict("client %d resumes at %s, but it was not paused", f.Client, at(f.Time))
	}
	f.client.setPaused(false, f.Time)
	return true
}

func (l *state) kill(f *fact, _ bool) bool {
	f.client.dead, f.client.died = true, f.Time
	l.settling = append(l.settling, f.client.holds...)
	return true
}

func (l *state) faultStart(f *fact, force bool) bool {
	if l.faults[f.Fault] {
		return force && l.contradict("fault %d begins at %s, and has not ended since it began", f.Fault, at(f.Time))
	}
	l.faults[f.Fault] = true
	return true
}

func (l *state) faultEnd(f *fact, force bool) bool {
	if !l.faults[f.Fault] {
		return force && l.contradict("fault %d ends at %s, but it has not begun", f.Fault, at(f.Time))
	}
	delete(l.faults, f.Fault)
	if len(l.ended) < maxNotes {
		l.ended = append(l.ended, f.Fault)
	}
	return true
}

// untried lists the faults after which no client has tried to acquire: see [Report].
func (l *state) untried() []int {
	all := slices.AppendSeq(slices.Clone(l.ended), maps.Keys(l.faults))
	slices.Sort(all)
	return slices.Compact(all)
}

// apply enters that a write was applied. Its hold may be over by then. No write is applied
// twice.
func (l *state) apply(f *fact, force bool) bool {
	if f.Client != 0 {
		f.hold = f.client.about(f.Event)
	} else {
		f.hold = l.resource(f.Resource).find(f.Token)
	}
	due := f.Client == 0 || f.client.writes > 0
	section, guessed := l.applied(f)
	if !force && !(due && f.hold != nil && section != nil) {
		return false
	}
	if !due {
		l.contradict("a write of client %d to %s is applied, but none of that client is under way", f.Client, f.lock())
	} else if f.Client != 0 {
		f.client.writes--
	}
	if section != nil {
		f.section = section
		l.clients[section.client].arrive(section, f, guessed)
	}
	return true
}

func (r *resource) find(token string) *hold {
	for _, h := range r.holds {
		if h.token == token {
			return h
		}
	}
	return nil
}

func (l *state) nodeDown(f *fact, _ bool) bool {
	if !l.down.has(f.Node) {
		l.downed[f.Node] = f.Time
	}
	l.down = l.down.with(f.Node)
	return true
}

func (l *state) nodeUp(f *fact, force bool) bool {
	if !l.down.has(f.Node) {
		if !force {
			return false
		}
		l.contradict("node %d comes up at %s, but it was not down", f.Node, at(f.Time))
	}
	l.down = l.down.without(f.Node)
	l.started[f.Node] = f.Time
	if f.Detail != "" && f.Detail != history.WithItsKeys {
		l.emptied = comeback{node: f.Node, at: f.Time, how: f.Detail}
		l.comebacks = append(without(l.comebacks, func(v *comeback) bool { return v.node == f.Node }), l.emptied)
		l.comebacks[len(l.comebacks)-1].down = l.downed[f.Node]
	}
	return true
}

func (l *state) leader(f *fact, _ bool) bool {
	l.led, l.leaderless = f.Time, f.Node == 0
	if f.Detail != "" {
		l.forgetful = comeback{node: f.Node, at: f.Time, how: f.Detail}
	}
	return true
}

// entryGone finds the client whose entry went away: a store does not know clients.
func (l *state) entryGone(f *fact, _ bool) bool {
	for _, c := range l.clients {
		for _, h := range c.holds {
			if h.token == f.Token {
				h.keys.entry.there = false
				h.history().entry = entry{gone: true, at: f.Time, reason: f.Reason, leader: f.Node}
			}
		}
	}
	return true
}

// linkDown and linkUp note whether they change anything. A link can go down twice.
func (l *state) linkDown(f *fact, _ bool) bool {
	f.changes = !f.client.cut.has(f.Node)
	f.client.cut = f.client.cut.with(f.Node)
	return true
}

func (l *state) linkUp(f *fact, force bool) bool {
	f.changes = f.client.cut.has(f.Node)
	if !f.changes {
		if !force {
			return false
		}
		l.contradict("the link of client %d to node %d is up at %s, but it was not down", f.Client, f.Node, at(f.Time))
	}
	f.client.cut = f.client.cut.without(f.Node)
	if f.client.mended == nil {
		f.client.mended = map[int]history.Time{}
	}
	f.client.mended[f.Node] = f.Time
	return true
}
