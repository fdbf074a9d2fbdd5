package checker

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

const (
	// Lease says that no two clients hold the lock at once, counted by each grant's validity. An
	// extension is valid only if nobody else held the lock in between.
	Lease Property = "lease"
	// Section says that no two clients work under the lock at once, even if they check no clock. Each
	// works until it releases the lock or learns that it is lost.
	Section Property = "section"
)

// exclusion judges the windows of one kind as a stream. A history keeps the property if and only if
//
//	(a) windows that are not empty are disjoint, and
//	(b) every grant with an empty window has a point p,
//	    max(call, window end) <= p <= return, that is not strictly inside
//	    another's window, and
//	(c) between two windows of one hold, the second begun by an extension, ends no
//	    window of another that is not empty; nor is one live, or ends, between the last
//	    window of a hold and an extension of it that is granted and ends in one instant.
//
// docs/proof.md proves that these are the linearizable histories. A late extension is one violation of (c), however many
// windows lie in between. Nobody relies on empty windows. Grants to one client under one token are no conflict: a lock that
// knows its holders by the token has one holder then.
type exclusion struct {
	kind     timeline.WindowKind
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
	return &exclusion{kind: timeline.LeaseWindow, timeline: line, shared: s}
}

func newSection(line *timeline.Timeline, s *shared) propertyChecker {
	return &exclusion{kind: timeline.SectionWindow, timeline: line, shared: s}
}

// sweep is the state of one resource, besides its live windows.
type sweep struct {
	// free is the latest instant before now that is not strictly inside any window: where the last live
	// window ended, or the first began. An empty window that is judged now needs a p in [since, now] for
	// (b). It has one if no window is live (now), or if since <= free.
	free history.Time

	last *ended // the window that ended last, for (c); nil: none
}

// Window judges the begin or the end of a window. The changes of one instant come in the order of
// [timeline.WindowChange]: ends before begins, empty windows after both.
func (x *exclusion) Window(e *timeline.WindowEvent) {
	s, live := x.sweeps.Of(e.Hold.Resource), e.Hold.Resource.Windows[x.kind].Live
	if e.Change != timeline.WindowEnded {
		x.windows++
	}
	switch e.Change {
	case timeline.WindowEnded:
		if len(live) == 0 {
			s.free = e.At
		}
		if !e.None && x.kind == timeline.LeaseWindow {
			s.remember(timeline.LiveWindow{Hold: e.Hold, From: e.Began}, e, x.shared.backing)
		}
		if x.first != nil {
			x.first.ended(e)
		}
	case timeline.WindowBegan:
		if len(live) == 0 {
			s.free = e.At
		}
		if between := s.interrupted(e.Hold); between != nil {
			x.violateGap(between, e)
		}
		for _, held := range live {
			x.violate(held, e)
		}
	case timeline.WindowEmpty:
		x.empty++
		if len(live) > 0 && e.Since > s.free {
			x.violate(live[0], e)
		}
	case timeline.ExtendedLate:
		if between := s.contender(live, e, x.shared.backing); between != nil {
			x.violateGap(between, e)
		}
	}
}

// remember stores the window that ended last. It reuses s.last, because it runs for every window.
func (s *sweep) remember(w timeline.LiveWindow, e *timeline.WindowEvent, b *backing) {
	if s.last == nil {
		s.last = &ended{}
	}
	s.last.note(w, e, b)
}

// interrupted returns a window that ended between the two windows of a late extension of a hold, or nil. A window that is
// still live needs no check here: it overlaps the new one.
func (s *sweep) interrupted(h *timeline.Hold) *ended {
	before := &h.PastWindow
	if !before.Ever || s.last == nil || s.last.at <= before.End || s.last.grant.Client == h.Client.Number && s.last.grant.Token == h.Token {
		return nil
	}
	return s.last
}

// contender returns another client's window after the end of the hold that the event extends late, or nil.
// The extension opens no window that a live one could overlap, so live windows count here.
func (s *sweep) contender(live []timeline.LiveWindow, e *timeline.WindowEvent, b *backing) *ended {
	for _, w := range live {
		if w.From < e.At {
			other := &ended{live: true}
			other.note(w, e, b)
			return other
		}
	}
	return s.interrupted(e.Hold)
}

// violate counts a violation of (a) or (b): the window of the event overlaps a live one.
func (x *exclusion) violate(held timeline.LiveWindow, e *timeline.WindowEvent) {
	if held.Hold.Client == e.Hold.Client && held.Hold.Token == e.Hold.Token || x.undecided(held.Hold, e.Hold.Client.Number, e.At) {
		return
	}
	if c := x.conflict(held.Hold, contenderOf(e.Hold, x.shared.backing.lossOf(e.Hold)), e.At); c != nil && x.first == nil {
		x.first = newViolation(held, e, c)
	}
}

// violateGap counts a violation of (c): the event extends its hold late, and another window lies between.
func (x *exclusion) violateGap(between *ended, e *timeline.WindowEvent) {
	over := e.Hold.PastWindow.End
	if o := between.unknown; o != nil && o.Sure <= max(over, between.from) {
		g := &between.grant
		x.doubts(Place{Resource: g.Resource, From: over, To: e.At}, doubted(o, g, e.At, fmt.Sprintf("client %d was granted more time at %s, and whether client %d held it after %s", e.Hold.Client.Number, at(e.At), g.Client, at(over))))
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

// undecided reports whether the history leaves open if a hold had ended when another client got the lock.
// If so, it notes the doubt.
func (x *exclusion) undecided(held *timeline.Hold, other int, now history.Time) bool {
	open := held.UnknownEnd
	if x.kind != timeline.LeaseWindow || open == nil || now < open.Sure {
		return false
	}
	g := Grant(timeline.GrantOf(held, now))
	x.doubts(Place{Resource: g.Resource, From: open.Sure, To: now}, doubted(open, &g, now, fmt.Sprintf("client %d was granted it at %s, and whether client %d still held it then", other, at(now), g.Client)))
	return true
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
	if x.empty > 0 {
		held.Text += fmt.Sprintf("; over before the grant returned: %d", x.empty)
	}
	return because(Holds, held)
}

// windowNames are what findings call windows.
var windowNames = [timeline.WindowKinds]string{timeline.LeaseWindow: "window", timeline.SectionWindow: "section"}
