package checker

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
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
//	(c) between two windows of one hold, the second begun by an extension, lies no
//	    window of another client that is not empty; nor between the last window
//	    of a hold and an extension of it that is granted and ends in one instant.
//
// A late extension is one violation of (c), however many windows lie in between. Nobody relies on empty
// windows.
type exclusion struct {
	kind     windowKind
	state    *state
	faultLog *faultLog
	sweeps   perResource[sweep]
	overlaps *perResource[[]*conflict] // the first overlaps of leases: see [maxOverlaps]

	windows int // how many began
	empty   int // how many ended before they began
	first   *violation
	count   int

	doubt *Finding // why an overlap may have been missed
}

func newLease(l *state, s *shared) propertyChecker {
	return &exclusion{kind: leaseWindow, state: l, faultLog: &l.faultLog, overlaps: &s.overlaps}
}

func newSection(l *state, s *shared) propertyChecker {
	return &exclusion{kind: sectionWindow, state: l, faultLog: &l.faultLog, overlaps: &s.overlaps}
}

// sweep is what has to be remembered of a resource besides its live windows.
type sweep struct {
	// free is the latest instant that is not strictly inside any window. It suffices for (b): an empty
	// window that is judged now may choose p from [since, now]. The points inside no window are those up
	// to free, and now itself if no window is live. free moves to the instant at which the last live window
	// ends. That point is inside no window, even if the next one begins there, because windows are half-open.
	free history.Time

	last *ended // the window that ended last, for (c); nil: none
}

// ended is a copy of a window that has ended, or of a live one. Its hold may have been
// retired.
type ended struct {
	live  bool
	grant Grant
	acted bool // its acquire had not returned
	from  history.Time
	at    history.Time
	by    history.Kind
	kept  nodes       // nodes with the hold's key
	voted nodes       // nodes that had it when it was granted
	fate  *keyHistory // of the hold
}

// window judges the begin or the end of a window. In an instant the windows that end come first, then those that
// begin, then the empty ones.
func (x *exclusion) window(e *windowEvent) {
	s, live := x.sweeps.of(e.hold.resource), e.hold.resource.windows[x.kind].live
	if e.change != windowEnded {
		x.windows++
	}
	switch e.change {
	case windowEnded:
		if len(live) == 0 {
			s.free = e.at
		}
		if !e.none && x.kind == leaseWindow {
			s.remember(span{e.hold, e.began}, e)
		}
		if x.first != nil {
			x.first.ended(e)
		}
	case windowBegan:
		if len(live) == 0 {
			s.free = e.at
		}
		if was := s.interrupted(&e.hold.past); was != nil {
			x.violateGap(was, e)
		}
		for _, held := range live {
			x.violate(held, e)
		}
	case windowEmpty:
		x.empty++
		if len(live) > 0 && e.since > s.free {
			x.violate(live[0], e)
		}
	case extendedLate:
		if was := s.contender(live, e); was != nil {
			x.violateGap(was, e)
		}
	}
}

// remember keeps the window that ended last. It sets field by field, because it runs for every window.
func (s *sweep) remember(w span, e *windowEvent) {
	if s.last == nil {
		s.last = &ended{}
	}
	s.last.note(w, e)
}

func (e *ended) note(w span, at *windowEvent) {
	h := w.hold
	e.from, e.at, e.by = w.from, at.at, at.by
	e.acted, e.kept, e.voted, e.fate = !h.returned, h.keys.set, h.voted(), h.keys.fate
	g := &e.grant
	g.Client, g.Resource, g.Token = h.client.number, h.resource.name, h.token
	g.Call, g.Granted, g.Validity = h.acquire.at, h.granted, h.first.left
}

// interrupted returns the window that ended last, if it ended after the last window of a
// hold that begins a window anew, or nil. It belongs to another client, which held the lock
// while the extended hold was over. Live windows overlap the new one anyway.
func (s *sweep) interrupted(over *pastWindow) *ended {
	if !over.ever || s.last == nil || s.last.at <= over.end {
		return nil
	}
	return s.last
}

// contender returns a window of another client in the time in which the hold of a late
// extension claims to have gone on, or nil.
func (s *sweep) contender(live []span, e *windowEvent) *ended {
	for _, w := range live {
		if w.from < e.at {
			other := &ended{live: true}
			other.note(w, e)
			return other
		}
	}
	return s.interrupted(&e.hold.past)
}

// violate counts a violation of (a) or (b): the window of the event overlaps a live one.
func (x *exclusion) violate(held span, e *windowEvent) {
	if x.undecided(held.hold, e.hold.client.number, e.at) {
		return
	}
	if c := x.conflict(held.hold, contenderOf(e.hold), e.at); c != nil && x.first == nil {
		x.first = newViolation(x.kind, held, e, x.faultLog, c)
	}
}

// violateGap counts a violation of (c): the event begins a window of its hold anew.
func (x *exclusion) violateGap(was *ended, e *windowEvent) {
	if c := x.conflict(e.hold, was.contender(), e.at); c != nil && x.first == nil {
		x.first = newInterrupted(x.kind, was, e, x.faultLog, c)
	}
}

// maxOverlaps bounds the overlaps of leases that are kept of a resource. Findings of lost updates name
// them as their cause.
const maxOverlaps = 16

// conflict counts a violation, and describes it if a finding may need that.
func (x *exclusion) conflict(held *hold, came contender, now history.Time) *conflict {
	x.count++
	overlaps := x.overlaps.of(held.resource)
	known := x.kind != leaseWindow || len(*overlaps) == maxOverlaps
	if x.first != nil && known {
		return nil
	}
	c := newConflict(x.state, x.faultLog, held, came, now)
	if !known {
		*overlaps = append(*overlaps, c)
	}
	return c
}

// undecided notes that it is not known whether a hold still went on when another began, and reports
// whether that is so.
func (x *exclusion) undecided(held *hold, other int, now history.Time) bool {
	open := held.openEnd
	if x.kind != leaseWindow || open == nil || now < open.sure {
		return false
	}
	x.doubts(Place{Resource: held.resource.name, From: open.sure, To: now}, open.doubted(held, other, now))
	return true
}

// missed notes a window that was taken for one which never began.
func (x *exclusion) missed(w missedWindow) {
	e := Event{Role: RoleUnseen, From: w.from, To: w.known, Client: w.client, Resource: w.resource, Token: w.token}
	x.doubts(Place{Resource: w.resource, From: w.from, To: w.known}, e.say("client %d acted at %s as the holder of %s, its acquire not having returned, but that the act (%s) came to something was told only at %s, with more than %d begins and ends of other %ss in between: whether it overlapped one of those is not known",
		e.Client, at(w.from), lockOf(e.Resource, e.Token), w.call, at(w.known), maxWaiting, windowNames[x.kind]))
}

// doubts keeps the first reason why the verdict may be unknown.
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
var windowNames = [windowKinds]string{leaseWindow: "window", sectionWindow: "section"}
