package checker

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// V1 and V2: one algorithm, with the windows of the lease or of the work.
const (
	// Lease says that no two clients hold the lock at once, counted by each grant's validity. An
	// extension is valid only if nobody else held the lock in between.
	Lease Property = "lease"
	// Section says that no two clients work under the lock at once, even if they check no clock. Each
	// works until it releases the lock or learns that it is lost.
	Section Property = "section"
)

// exclusion judges the windows of one kind as a stream. The load of a resource at an instant is the sum of the
// weights of the windows strictly around it. A history keeps the property if and only if
//
//	(a) the windows that overlap weigh no more than the capacity together, and
//	(b) every grant with an empty window has a point p,
//	    max(call, window end) <= p <= return, at which the load leaves
//	    room for it, and
//	(c) between two windows of one hold, the second begun by an extension, the
//	    load leaves room for it always; also between the last window
//	    of a hold and an extension of it that is granted and ends in one instant.
//
// Where the capacity is 1, so that each hold is exclusive, there is room if and only if the lock is free: docs/proof.md
// proves that these are the linearizable histories. A late extension is one violation of (c), however many windows lie in
// between. Nobody relies on empty windows. Grants to one client under one token are no conflict: a lock that knows its
// holders by the token has one holder then.
type exclusion struct {
	kind     timeline.WindowKind
	capacity int
	timeline *timeline.Timeline
	sweeps   timeline.PerResource[sweep]
	shared   *shared // its overlaps are the first [maxOverlaps] of leases, which [effect] reads

	windows int // number of windows that began
	empty   int // number of those that ended before they began
	first   *violation
	count   int // of violations

	doubt *Finding // why an overlap may have been missed
}

func newLease(line *timeline.Timeline, s *shared) propertyChecker {
	s.lease = &exclusion{kind: timeline.LeaseWindow, capacity: line.Header.Permits(), timeline: line, shared: s}
	return s.lease
}

func newSection(line *timeline.Timeline, s *shared) propertyChecker {
	return &exclusion{kind: timeline.SectionWindow, capacity: line.Header.Permits(), timeline: line, shared: s}
}

// Window judges the begin or the end of a window. The changes of one instant come in the order of
// [timeline.WindowChange]: ends before begins, empty windows after both.
func (x *exclusion) Window(e *timeline.WindowEvent) {
	s, live := x.sweeps.Of(e.Hold.Resource), e.Hold.Resource.Windows[x.kind].Live
	load, room := weigh(live), x.capacity-e.Hold.Weight
	if e.Change != timeline.WindowEnded {
		x.windows++
	}
	switch e.Change {
	case timeline.WindowEnded:
		if !e.None {
			s.fell(load)
			if x.kind == timeline.LeaseWindow {
				s.remember(load+e.Hold.Weight, e, x.shared.backing)
			}
		}
		if x.first != nil {
			x.first.ended(e)
		}
	case timeline.WindowBegan:
		s.rose(load, e.At)
		if between := s.interrupted(live, room, e); between != nil {
			x.violateGap(between, e)
		}
		if load > room {
			for _, held := range x.against(live, room, e) {
				x.violate(held, e)
			}
		}
	case timeline.WindowEmpty:
		x.empty++
		if load <= room || e.Since <= s.roomAt(room) {
			return
		}
		against := x.against(live, room, e)
		if i := slices.IndexFunc(live, func(w timeline.LiveWindow) bool { return x.mayHaveEnded(w.Hold, e.At) }); i >= 0 {
			against = live[i:] // if it had ended there was room, so the verdict is unknown: see violate
		}
		if len(against) > 0 {
			x.violate(against[0], e)
		}
	case timeline.ExtendedLate:
		if between := s.contender(live, room, e, x.shared.backing); between != nil {
			x.violateGap(between, e)
		}
	}
}

// weigh returns the number of permits that windows take.
func weigh(windows []timeline.LiveWindow) (load int) {
	for _, w := range windows {
		load += w.Hold.Weight
	}
	return load
}

// against returns the live windows of others that leave no room for that of an event: those of which one alone
// leaves none or, if they do so only together, the first, preferably one that has lost its backing. Windows of
// holds that may have ended count only if the others leave room.
func (x *exclusion) against(live []timeline.LiveWindow, room int, e *timeline.WindowEvent) []timeline.LiveWindow {
	var alone, sure, unsure []timeline.LiveWindow
	for _, w := range live {
		switch {
		case sameOwner(w.Hold, e.Hold):
			continue
		case x.mayHaveEnded(w.Hold, e.At):
			unsure = append(unsure, w)
			continue
		case w.Hold.Weight > room:
			alone = append(alone, w)
		}
		sure = append(sure, w)
	}
	switch {
	case len(alone) > 0:
		return alone
	case weigh(sure) > room:
		first := slices.IndexFunc(sure, func(w timeline.LiveWindow) bool { return x.shared.backing.holds.Of(w.Hold).lost.seen() })
		return sure[max(first, 0):][:1]
	case weigh(sure)+weigh(unsure) > room:
		return unsure[:1]
	}
	return nil
}

// sameOwner reports whether two holds are one client's under one token.
func sameOwner(a, b *timeline.Hold) bool { return a.Client == b.Client && a.Token == b.Token }

// sweep is the state of one resource, besides its live windows.
type sweep struct {
	// rises are the loads below the present one, ascending, each with the latest instant at which the load was no
	// higher. For (b) an empty window needs such an instant between its Since and now: see [sweep.roomAt].
	rises []rise

	// falls are the ends of windows in their order, each with the load before it, for (c). One is dropped when a
	// later end has at least the same load, because it then decides nothing.
	falls []ended
}

type rise struct {
	load int
	at   history.Time
}

// rose notes that a window began, and the load before.
func (s *sweep) rose(from int, at history.Time) { s.rises = append(s.rises, rise{from, at}) }

// fell notes that a window ended, and the load after that.
func (s *sweep) fell(to int) {
	for n := len(s.rises); n > 0 && s.rises[n-1].load >= to; n-- {
		s.rises = s.rises[:n-1]
	}
}

// roomAt returns the latest instant at which the load, which is higher now, left so much room.
func (s *sweep) roomAt(room int) history.Time {
	for _, r := range slices.Backward(s.rises) {
		if r.load <= room {
			return r.at
		}
	}
	return timeline.LongAgo
}

// remember stores the end of a window, and the load before. It reuses memory, because it runs for every window.
func (s *sweep) remember(load int, e *timeline.WindowEvent, b *backing) {
	n := len(s.falls)
	for n > 0 && s.falls[n-1].load <= load {
		n--
	}
	if s.falls = s.falls[:n]; n == cap(s.falls) {
		s.falls = append(s.falls, ended{})
	}
	s.falls = s.falls[:n+1]
	s.falls[n].load = load
	s.falls[n].note(timeline.LiveWindow{Hold: e.Hold, From: e.Began}, e, b)
}

// interrupted returns the window with whose end, between the two windows of a late extension, there was room
// again, or nil. A window that is still live needs no check here: it overlaps the new one. The extension is not
// late if its owner holds the lock by another hold.
func (s *sweep) interrupted(live []timeline.LiveWindow, room int, e *timeline.WindowEvent) *ended {
	h, before := e.Hold, &e.Hold.PastWindow
	if !before.Ever || slices.ContainsFunc(live, func(w timeline.LiveWindow) bool { return sameOwner(w.Hold, h) }) || grantedAnew(h, e.At) {
		return nil
	}
	for i := len(s.falls) - 1; i >= 0 && s.falls[i].at > before.End; i-- {
		if f := &s.falls[i]; f.load > room && (f.grant.Client != h.Client.Number || f.grant.Token != h.Token) {
			return f
		}
	}
	return nil
}

// grantedAnew reports whether the owner of a hold is granted another one at an instant.
func grantedAnew(h *timeline.Hold, now history.Time) bool {
	return slices.ContainsFunc(h.Resource.Holds, func(o *timeline.Hold) bool {
		return sameOwner(o, h) && !o.PastWindow.Ever && o.Windows[timeline.LeaseWindow].BeginsAt(now)
	})
}

// contender returns another client's window after the end of the hold that the event extends late, or nil.
// The extension opens no window that a live one could overlap, so live windows count here.
func (s *sweep) contender(live []timeline.LiveWindow, room int, e *timeline.WindowEvent, b *backing) *ended {
	before := slices.DeleteFunc(slices.Clone(live), func(w timeline.LiveWindow) bool {
		return w.From >= e.At || sameOwner(w.Hold, e.Hold)
	})
	if weigh(before) > room {
		other := &ended{live: true}
		other.note(before[0], e, b)
		return other
	}
	return s.interrupted(live, room, e)
}

// violate counts a violation of (a) or (b): the window of the event overlaps a live one.
func (x *exclusion) violate(held timeline.LiveWindow, e *timeline.WindowEvent) {
	if x.mayHaveEnded(held.Hold, e.At) {
		end, g := held.Hold.UnknownEnd, Grant(timeline.GrantOf(held.Hold, e.At))
		asked := fmt.Sprintf("client %d was granted it at %s, and whether client %d still held it then", e.Hold.Client.Number, at(e.At), g.Client)
		x.doubts(Place{Resource: g.Resource, From: end.Sure, To: e.At}, doubted(end, &g, e.At, asked))
		return
	}
	if c := x.conflict(held.Hold, contenderOf(e.Hold, x.shared.backing.lossOf(e.Hold)), e.At); c != nil && x.first == nil {
		x.first = newViolation(held, e, c)
		if live := held.Hold.Resource.Windows[x.kind].Live; x.capacity > 1 {
			x.first.permits = fmt.Sprintf("; at %s %s took %d of %d permits", at(e.At), counted(len(live)+1, "hold"), weigh(live)+e.Hold.Weight, x.capacity)
		}
	}
}

// violateGap counts a violation of (c): the event extends its hold late, and another window lies between.
func (x *exclusion) violateGap(between *ended, e *timeline.WindowEvent) {
	over := e.Hold.PastWindow.End
	if end := between.unknown; end != nil && end.Sure <= max(over, between.from) {
		g := &between.grant
		x.doubts(Place{Resource: g.Resource, From: over, To: e.At}, doubted(end, g, e.At, fmt.Sprintf("client %d was granted more time at %s, and whether client %d held it after %s", e.Hold.Client.Number, at(e.At), g.Client, at(over))))
		return
	}
	if c := x.conflict(e.Hold, between.other, e.At); c != nil && x.first == nil {
		x.first = newInterrupted(between, e, c)
	}
}

// maxOverlaps bounds the overlaps of leases that are kept for each resource. A finding about a lost update
// names them as its cause.
const maxOverlaps = 16

// conflict counts a violation. It returns a description if it is the first or is kept as an overlap, else nil.
func (x *exclusion) conflict(held *timeline.Hold, other contender, now history.Time) *conflict {
	x.count++
	overlaps := x.shared.overlaps.Of(held.Resource)
	enough := x.kind != timeline.LeaseWindow || len(*overlaps) == maxOverlaps
	if x.first != nil && enough {
		return nil
	}
	c := newConflict(x.timeline, x.shared.backing, held, other, now)
	if !enough {
		*overlaps = append(*overlaps, c)
	}
	return c
}

// mayHaveEnded reports whether a hold's end is uncertain: it may have been over when another client got the lock.
func (x *exclusion) mayHaveEnded(held *timeline.Hold, now history.Time) bool {
	return x.kind == timeline.LeaseWindow && held.UnknownEnd != nil && now >= held.UnknownEnd.Sure
}

// Missed notes a window that began, although the timeline had assumed that it never would.
func (x *exclusion) Missed(w timeline.MissedWindow) {
	e := Event{Role: RoleUnseen, From: w.From, To: w.Known, Client: w.Client, Resource: w.Resource, Token: w.Token}
	x.doubts(Place{Resource: w.Resource, From: w.From, To: w.Known}, e.say("client %d acted at %s as the holder of %s, its acquire not having returned, but that the act (%s) came to something was told only at %s, with more than %d begins and ends of other %ss in between: whether it overlapped one of those is not known",
		e.Client, at(w.From), lockOf(e.Resource, e.Token), w.Call, at(w.Known), timeline.MaxWaiting, windowNames[x.kind]))
}

// doubts notes a reason why the verdict may be unknown. It keeps the first.
func (x *exclusion) doubts(where Place, why Event) {
	if x.doubt == nil {
		f := because(Unknown, why)
		f.Where = &where
		x.doubt = &f
	}
}

func (x *exclusion) finding(end history.Time) Finding {
	switch {
	case x.first != nil:
		x.first.seal(end)
		f := x.first.finding()
		f.Count = x.count
		return f
	case x.windows == 0:
		return notExercised(NotApplicable, "nobody was granted the lock")
	case x.doubt != nil:
		return *x.doubt
	}
	held := Event{Role: RoleAccess}.say("%s, and no two overlap", counted(x.windows, windowNames[x.kind]))
	if x.capacity > 1 {
		held = held.say("%s, which took no more than %d permits at once", counted(x.windows, windowNames[x.kind]), x.capacity)
	}
	if x.empty > 0 {
		held.Text += fmt.Sprintf("; over before the grant returned: %d", x.empty)
	}
	return because(Holds, held)
}

// windowNames are what findings call windows.
var windowNames = [timeline.WindowKinds]string{timeline.LeaseWindow: "window", timeline.SectionWindow: "section"}
