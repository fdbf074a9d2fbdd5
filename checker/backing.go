package checker

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// Backing says that each hold is backed until the end on which its holder relies: by a quorum of the nodes, each of
// which keeps the hold's token, or has lost it while its vote does not count. A lock in a
// store has its entry instead.
//
// While a hold is backed nobody else can be granted the lock, so lease exclusion follows from it. A hold that is not
// backed shows a defect without a second client.
const Backing Property = "backing"

// backing judges the lease windows of granted holds. There are two violations:
//
//   - The hold is not backed at some instant of its window: it never was, or it has lost its quorum.
//   - When a grant or an extension returns, the keys are to end, by the clocks of their nodes, on so many nodes before
//     the end that the holder's clock is to reach, that no quorum is left. Both are compared on the ground clock, as the
//     clocks run then. So what a lock subtracts for clock error is not needed, and a wrong clock shows.
//
// A window that is over when its grant returns is not judged, because nobody relies on it. A window that an extension
// begins late counts as if it had begun with the grant: the lock must not have become free in between.
//
// A watch reports keys late. Then the second is judged when the watch has reported all that the nodes had done
// by the return. The ends of such keys are upper bounds, and a node of which not everything is known may have any key.
// So a hold that is released before that, or whose keys were seen, but not on a quorum, is not judged. The first is judged by
// keys that the watch has reported gone, at instants up to which it has reported everything, and of holds that have never
// had a key, if others have. What it does not show
// is unknown if lease exclusion is violated: then some hold was not backed.
type backing struct {
	shared   *shared
	timeline *timeline.Timeline
	quorum   timeline.Electorate
	holds    timeline.PerHold[protection]

	returned []*timeline.Hold // granted or extended in this instant
	changed  []*timeline.Hold // whose window may have ended, or whose entry has changed
	every    bool             // a node went down or came up, or an entry is gone
	looked   bool             // a watch has reported
	awaiting []*timeline.Hold // returned, and what the nodes had done by then is not known yet

	judged int
	first  *backingLoss
	count  int

	keyless      *backingLoss // the first hold of which no key was seen
	keylessCount int
}

// protection is what is known of a hold.
type protection struct {
	until history.Time // it is backed until then, unless it loses a key before; 0: nobody has looked
	lost  *backingLoss // how it lost its backing, if found; nil: it has not, or nobody has asked
	told  bool         // it counts as a violation

	awaited bool             // it is one of those that wait
	promise timeline.Promise // by the return that is to be judged
}

func newBacking(line *timeline.Timeline, s *shared) propertyChecker {
	s.backing = &backing{shared: s, timeline: line, quorum: timeline.ElectorateOf(line.Header)}
	return s.backing
}

// seen reports whether the history records keys, or entries, when they change.
func (b *backing) seen() bool {
	h := &b.timeline.Header
	return timeline.ExactKeys(*h) || h.Entries && !h.Watched
}

// watched reports whether a watch records the keys.
func (b *backing) watched() bool {
	h := &b.timeline.Header
	return h.Watched && h.Keys && !h.Entries && !b.quorum.None()
}

func (b *backing) Wants() timeline.Kinds {
	switch {
	case b.watched():
		return timeline.KindSet(history.Granted, timeline.Reentered, history.Extended, history.Release, history.Lost, history.Lapse, history.EntriesSeen)
	case !b.seen():
		return 0
	}
	return timeline.KindSet(history.Granted, timeline.Reentered, history.Extended, history.Release, history.Lost, history.Lapse,
		history.NodeDown, history.NodeUp, history.EntrySet, history.EntryDeleted, history.EntryGone)
}

func (b *backing) Settles() timeline.Kinds {
	if b.watched() {
		return b.Wants()
	}
	return b.Wants() | timeline.KindSet(history.KeySet, history.KeyGone)
}

func (b *backing) Observe(f *timeline.Fact) {
	switch f.Kind {
	case history.Granted, timeline.Reentered, history.Extended:
		if f.Hold != nil {
			b.returned = append(b.returned, f.Hold)
		}
	case history.Release, history.Lost, history.Lapse:
		if f.Hold != nil && f.Hold.Granted {
			b.changed = append(b.changed, f.Hold)
		}
	case history.EntrySet, history.EntryDeleted:
		b.changed = append(b.changed, f.Locked.Holds...)
	case history.NodeDown, history.NodeUp, history.EntryGone:
		b.every = true
	case history.EntriesSeen:
		b.looked = true
	}
}

// Settle looks at the holds that the instant has changed, when all of its changes are known.
func (b *backing) Settle() {
	if b.every || b.looked {
		for _, c := range b.timeline.Clients {
			b.changed = append(b.changed, c.Holds...)
		}
	}
	if b.watched() {
		b.settleWatched()
		return
	}
	if b.timeline.Header.Permits() == 1 { // otherwise a node may vote for several holds
		b.timeline.Divide(b.returned)
	}
	for _, h := range b.changed {
		b.look(h)
	}
	for i := range b.timeline.Changes {
		if h := b.timeline.Changes[i].Hold; h != nil {
			b.look(h)
		}
	}
	for _, h := range b.returned {
		for _, held := range h.Resource.Holds { // it may have taken votes from one of them
			if held != h && held.Leased() {
				b.look(held)
			}
		}
		b.look(h)
		b.compare(h)
	}
	b.returned, b.changed, b.every = b.returned[:0], b.changed[:0], false
}

// look finds out whether the hold is backed. The window may have ended in this instant.
func (b *backing) look(h *timeline.Hold) {
	if !h.Granted {
		return
	}
	w, p := &h.Windows[timeline.LeaseWindow], b.holds.Of(h)
	end := b.timeline.Now
	if w.Over {
		end = min(end, w.End)
	}
	switch {
	case p.lost.is():
	case b.watched():
		if from, kept := b.timeline.ReportedUnbacked(h, b.quorum); from < end && !(h.Endless() && h.Client.Dead) {
			b.lose(h, p, from, kept)
		}
	case p.until != 0 && p.until < end:
		b.lose(h, p, p.until, h.Backers(b.timeline.Now+1)) // a quarantine was over
	case h.ReleaseCalled || h.Lost || h.Endless() && h.Client.Dead:
	default:
		never := p.until == 0
		if never {
			b.judged++
		}
		if p.until = b.timeline.BackedUntil(h, b.quorum); p.until <= b.timeline.Now {
			b.lose(h, p, b.timeline.Now, h.Backers(b.timeline.Now+1))
			p.lost.never, p.lost.keyless = never, never && !h.Keys.Entry.There && h.Keys.Set == 0 && len(p.lost.losses) == 0 && p.lost.ignored == 0 && !p.lost.entry.Gone
		}
	}
	if p.lost.is() {
		p.lost.follow(h, end)
		if !p.told && (h.Leased() || w.Over && p.lost.at < w.End && w.From < w.End) {
			p.told = true
			b.violate(p.lost)
		}
	}
}

// compare compares the end on which the holder relies with those of its keys.
func (b *backing) compare(h *timeline.Hold) {
	last, _ := h.Promised()
	p := b.holds.Of(h)
	if b.timeline.Header.Entries || !h.Granted || p.told || last.Ends == 0 || last.At != b.timeline.Now || !h.Leased() {
		return
	}
	if b.quorum.Quorum(h.PlannedBackers(last.Ends)) {
		return
	}
	p.told = true
	short := newBackingLoss(b.timeline, h, b.quorum, h.PlannedUntil(b.quorum), h.PlannedBackers(last.Ends))
	short.relied = last.Ends
	b.violate(short)
}

// settleWatched looks at the holds, and compares the ends of those of which enough is known.
func (b *backing) settleWatched() {
	for _, h := range b.changed {
		b.look(h)
	}
	for _, h := range b.returned {
		last, _ := h.Promised()
		p := b.holds.Of(h)
		if !p.awaited {
			b.awaiting = append(b.awaiting, h)
		}
		p.awaited, p.promise = true, last
	}
	if b.looked {
		b.awaiting = timeline.Without(b.awaiting, func(h **timeline.Hold) bool { return b.compareWatched(*h) })
	}
	b.returned, b.changed, b.looked = b.returned[:0], b.changed[:0], false
}

// compareWatched is compare for keys that a watch reports. It returns false if not enough is known yet.
func (b *backing) compareWatched(h *timeline.Hold) (done bool) {
	p := b.holds.Of(h)
	if !p.awaited { // it is over, and another hold has its place
		return true
	}
	until := p.promise.Ends.Add(-timeline.Noticeable)
	may, surely, unseen := b.timeline.MayKeep(h, until, p.promise.At)
	seen := b.quorum.Quorum(h.Keys.Seen())
	switch {
	case h.Over || h.Client.Dead || p.told || p.promise.Ends <= p.promise.At:
	case seen && b.quorum.Quorum(surely):
		b.judged++
	case seen && !b.quorum.Quorum(may):
		b.judged++
		p.told = true
		short := newBackingLoss(b.timeline, h, b.quorum, b.timeline.MayKeepUntil(h, b.quorum, p.promise.At), may)
		short.granted, short.relied = p.promise, p.promise.Ends
		if p.promise == h.AtGrant {
			short.sent = h.Keys.Sent
		}
		b.violate(short)
	case unseen&b.quorum.Nodes() != 0:
		return false
	case h.Keys.Seen() == 0 && !b.quorum.Quorum(may) && p.promise == h.AtGrant:
		b.judged++
		p.told = true
		b.lose(h, p, p.promise.At, 0)
		p.lost.never, p.lost.keyless = true, true
		b.violate(p.lost)
	}
	p.awaited = false
	return true
}

// lose notes that the hold is not backed from an instant on, because only some nodes keep it.
func (b *backing) lose(h *timeline.Hold, p *protection, from history.Time, kept timeline.Nodes) {
	if p.lost == nil {
		p.lost = &backingLoss{}
	}
	*p.lost = *newBackingLoss(b.timeline, h, b.quorum, from, kept)
}

// lossOf returns how the hold loses its backing, which may be found later.
func (b *backing) lossOf(h *timeline.Hold) *backingLoss {
	p := b.holds.Of(h)
	if p.lost == nil {
		p.lost = &backingLoss{}
	}
	return p.lost
}

// violate counts a violation, and keeps the first.
func (b *backing) violate(u *backingLoss) {
	first, count := &b.first, &b.count
	if u.keyless {
		first, count = &b.keyless, &b.keylessCount
	}
	if *count++; *count == 1 {
		*first = u
	}
}

func (b *backing) finding(end history.Time) Finding {
	for _, c := range b.timeline.Clients {
		for _, h := range c.Holds {
			if h.Granted && (b.seen() || b.watched()) {
				b.look(h)
			}
		}
	}
	// A lock can keep its keys where nobody sees them. If some hold has a key, it does not, unless it keeps those of
	// shared holds elsewhere.
	seen := b.judged - b.keylessCount
	if seen > 0 && b.timeline.Header.Permits() == 1 {
		if b.keyless != nil && (b.first == nil || b.keyless.at < b.first.at) {
			b.first = b.keyless
		}
		b.count += b.keylessCount
	}
	switch h := b.timeline.Header; {
	case b.first != nil:
		f := b.first.finding(end)
		f.Count = b.count
		return f
	case h.Keepers < 0 && !h.Entries:
		return notExercised(NotApplicable, keepsNothing)
	case !h.Keys && !h.Entries:
		return notExercised(NotApplicable, noKeys)
	case b.watched() && b.timeline.Header.Permits() == 1 && b.shared.lease.first != nil:
		f := unseen("lease exclusion is violated, so some hold was not backed; " + keysUnseen + " to tell which")
		f.Where = b.shared.lease.first.where()
		return f
	case b.keyless != nil && seen == 0:
		return notExercised(NotApplicable, "no key of any hold is seen on a node")
	case b.watched() && seen > 0:
		return because(Holds, Event{Role: RoleAccess}.say("%s, each no later than the ends of the keys on a quorum", counted(seen, "validity end")))
	case h.Watched:
		return notExercised(NotApplicable, keysLate)
	case b.judged == 0:
		return notExercised(NotApplicable, "nobody was granted the lock")
	}
	return because(Holds, Event{Role: RoleAccess}.say("%s, each backed until its end", counted(seen, "hold")))
}
