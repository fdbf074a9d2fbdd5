package timeline

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Hold is one try to acquire and, if it is granted, the hold.
type Hold struct {
	number   int    // index into [PerHold], reused after the hold is retired
	serial   uint64 // from 1, never reused
	Client   *Client
	Resource *Resource
	Token    string
	TTL      time.Duration
	Asked    int // permits that the try takes, at most
	Weight   int // permits that the hold takes; 1, the least, while no grant has said it

	Acquire Call // open until the try returns
	Extend  Call
	Release Call
	Check   Call
	Queue   *Queue // where the try waits to be woken, or nil
	depth   int    // number of further grants whose release was not called: see [Reentered]
	inner   []Call // releases of such grants that have not returned

	Sending bool         // the lock has read its clock and sends requests
	SentAt  history.Time // when it last read its clock

	Granted       bool // the try was granted
	ReleaseCalled bool // release was called
	Lost          bool // the lock reported the loss
	LostAt        history.Time
	Over          bool // the try was refused, or the release has returned
	retired       bool // no further event can concern the hold
	references    int  // from live windows, and from events of windows that wait

	EndedAt history.Time

	GrantedAt history.Time
	AtGrant   Promise // by the grant
	Fence     uint64  // of the grant; 0: none

	ExtendTTL   time.Duration // the TTL of the last extension; 0: that of the grant
	AtExtension Promise       // by the last extension

	Until      int64       // the present end of validity, on the clock that the header names
	UnknownEnd *UnknownEnd // nil: the history states the end of validity
	lapsed     lapsed
	Writes     int // writes that may still be applied

	Windows    [WindowKinds]HoldWindow
	PastWindow PastWindow // its owner's last lease window that has ended, once one of its own has
	Keys       Keys
}

// EntryLoss says how a store lost the hold's entry without a request of the holder.
type EntryLoss struct {
	Gone   bool
	At     history.Time
	Reason string
	Leader int // of the store at that time
	Client int // who deleted it; 0: not known
}

// refused reports whether the try has returned without the lock.
func (h *Hold) refused() bool { return h.Over && !h.ReleaseCalled }

// Leased reports whether the hold's lease window is open.
func (h *Hold) Leased() bool {
	w := &h.Windows[LeaseWindow]
	return w.Begun && !w.Over
}

// Endless reports whether nothing but a release ends the hold.
func (h *Hold) Endless() bool { return h.Granted && h.Until == noEnd && !h.lapsed.over }

// Orphaned reports whether nothing can end the hold: it has no TTL and its client is dead.
func (h *Hold) Orphaned() bool { return h.Endless() && h.Client.Dead }

// DiesWithClient reports whether the hold has no TTL and is in a store. Such a hold lasts no longer than its
// client, because the entry belongs to the client's connection.
func (t *Timeline) DiesWithClient(h *Hold) bool { return t.Header.Keepers < 0 && h.Endless() }

// Call is one call of a client.
type Call struct {
	Open   bool
	At     history.Time
	Paused time.Duration // total pauses of the client up to the call
}

// Queue is the time that a try has waited to be woken.
type Queue struct {
	in     bool
	since  Call          // when the try was last queued
	waited time.Duration // total of the waits that have ended, without pauses of the client
}

// Time returns how long the try has been queued in total.
func (q *Queue) Time(c *Client, now history.Time) time.Duration {
	if q == nil {
		return 0
	}
	if q.in {
		return q.waited + q.since.Took(c, now)
	}
	return q.waited
}

func (h *Hold) queued() bool { return h.Queue != nil && h.Queue.in }

// leave ends the wait, if the try is queued.
func (q *Queue) leave(c *Client, now history.Time) {
	q.waited = q.Time(c, now)
	q.in = false
}

// Took returns how long the call has taken, without pauses of the client.
func (v Call) Took(c *Client, now history.Time) time.Duration {
	return now.Sub(v.At) - (c.PausedUpTo(now) - v.Paused)
}

// close makes f the return of an open call.
func (f *Fact) close(c *Call) {
	if !c.Open {
		return
	}
	f.Call = *c
	f.Took = c.Took(f.Actor, f.Time)
	c.Open = false
}

// closeTry makes f the return of a try. The time in its queue does not count.
func (f *Fact) closeTry(h *Hold) {
	f.close(&h.Acquire)
	if h.Queue != nil {
		h.Queue.leave(f.Actor, f.Time)
		f.Took -= h.Queue.waited
	}
}

// AnyStage is a stage of a hold, as those below are: [Client.Find] looks for a hold at one of them, as the one whose
// call a return ends.
func AnyStage(*Hold) bool { return true }

func isCalled(h *Hold) bool    { return h.Acquire.Open }
func isHeld(h *Hold) bool      { return h.Granted && !h.Over }
func isGranted(h *Hold) bool   { return h.Granted && !h.Over && !h.Release.Open }
func isExtending(h *Hold) bool { return h.Extend.Open }
func isReleasing(h *Hold) bool { return h.Release.Open }

// Resource is a name that is locked.
type Resource struct {
	Number int
	Name   string
	Holds  []*Hold

	Windows [WindowKinds]windowQueue
	late    []straggler
}

// Leased reports whether the lease window of some hold is open.
func (r *Resource) Leased() bool { return slices.ContainsFunc(r.Holds, (*Hold).Leased) }

// Resource returns the resource of a name.
func (t *Timeline) Resource(name string) *Resource {
	recent := &t.recent[slot(name)]
	if *recent != nil && (*recent).Name == name {
		return *recent
	}
	r := t.resources[name]
	if r == nil {
		r = &Resource{Number: len(t.resources), Name: name}
		t.resources[name] = r
		t.crowded()
	}
	*recent = r
	return r
}

// slot returns the index of a name in recent. It hashes the end of the name, because many names differ only there.
func slot(name string) int {
	if len(name) < 2 {
		return 0
	}
	return (int(name[len(name)-1]) + 10*int(name[len(name)-2])) % 64
}

// ResourcesInOrder returns all resources in the order of their names.
func (t *Timeline) ResourcesInOrder() []*Resource {
	all := slices.Collect(maps.Values(t.resources))
	slices.SortFunc(all, func(a, b *Resource) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// releasedHold is a hold that a client has released. A lock has to refuse to extend it. The timeline
// remembers the last one of each client, and up to [maxUnconfirmed] earlier ones whose release was not
// confirmed, because a defective lock may go on to extend them. All other released holds are forgotten.
type releasedHold struct {
	resource *Resource // nil: no hold was released
	token    string
	Released history.Time // when the release returned
	kept     bool         // remember it after the next release, because this one was not confirmed
	extend   Call
}

// maxUnconfirmed bounds the unconfirmed releases that are remembered of a client. The oldest,
// which expired first, are forgotten.
const maxUnconfirmed = 4

// rememberRelease notes a release that has returned.
func (c *Client) rememberRelease(h *Hold, f *Fact) {
	if c.released.kept {
		if len(c.unconfirmed) == maxUnconfirmed {
			c.unconfirmed = Cut(c.unconfirmed, 0)
		}
		c.unconfirmed = append(c.unconfirmed, c.released)
	}
	c.released = releasedHold{resource: h.Resource, token: h.Token, Released: f.Time, kept: f.Outcome != history.OK}
}

// releasedHold returns the released hold that the event is about, or nil.
func (c *Client) releasedHold(e *history.Event) *releasedHold {
	if c.released.is(e) {
		return &c.released
	}
	for i := range c.unconfirmed {
		if p := &c.unconfirmed[i]; p.is(e) {
			return p
		}
	}
	return nil
}

func (r *releasedHold) is(e *history.Event) bool {
	return r.resource != nil && r.token == e.Token && r.resource.Name == e.Resource
}

// extendReleased records the call of an extension, if the hold is a released one, and reports whether it is.
func (f *Fact) extendReleased() bool {
	p := f.Actor.releasedHold(f.Event)
	if p == nil || p.extend.Open {
		return false
	}
	p.extend = f.Actor.begin(f)
	return true
}

// releasedExtended records the return of such an extension, and reports whether f is one.
func (f *Fact) releasedExtended() bool {
	p := f.Actor.releasedHold(f.Event)
	if p == nil || !p.extend.Open {
		return false
	}
	f.Released = p
	f.close(&p.extend)
	return true
}

// Reentered is the kind of a grant to a client that already holds the resource under the same token.
// Fact.Hold is that hold, Fact.Try the try that was granted.
//
// The hold goes on until the later of the two ends of validity. It ends with the last release, after as
// many releases as grants; earlier releases change nothing. A loss or an end of validity ends it at once.
const Reentered history.Kind = maxKinds - 1

// holding returns the client's hold that a grant enters again, or nil: one with the same token that goes on.
func (c *Client) holding(f *Fact) *Hold {
	if c.held == 0 {
		return nil
	}
	return c.Find(f.Event, func(h *Hold) bool { return h.Granted && h.goesOn(f.Time) })
}

// goesOn reports whether the hold goes on. A loss or an end of validity in this very instant does not count,
// as for an extension.
func (h *Hold) goesOn(now history.Time) bool {
	return !h.ReleaseCalled && !h.Over && !(h.Lost && h.LostAt < now) && !(h.Expired() && h.Expiry() < now)
}

// reenter turns the grant of a try into one that enters a hold again.
func (t *Timeline) reenter(f *Fact, held *Hold) {
	f.Hold.end(f.Time)
	t.retiring = append(t.retiring, f.Hold)
	t.reentry = *f.Event
	t.reentry.Kind = Reentered
	f.Event, f.Hold, f.Try = &t.reentry, held, f.Hold
	held.depth++
	if until := validityEnd(f.Event); until > held.Until {
		t.declare(f, held)
		held.AtExtension = t.vouchedBy(f, held)
	}
}

// leave records the call of a release that is not the last one of a reentered hold, and reports whether it is
// such a release. Nothing happens to the hold, so Fact.Hold stays nil.
func (h *Hold) leave(f *Fact) bool {
	if h.depth == 0 {
		return false
	}
	h.depth--
	h.inner = append(h.inner, f.Actor.begin(f))
	return true
}

// left records the return of the first such release.
func (h *Hold) left(f *Fact) {
	f.close(&h.inner[0])
	h.inner = h.inner[1:]
}

func isLeaving(h *Hold) bool { return len(h.inner) > 0 }

// newHold opens a hold with the call of acquire.
func (t *Timeline) newHold(f *Fact) *Hold {
	c, r, e := t.Client(f.Client), t.Resource(f.Resource), f.Event
	h := t.blank()
	h.Client, h.Resource, h.Token, h.TTL = c, r, e.Token, e.TTL
	h.Asked, h.Weight = t.weight(e), 1
	h.Acquire, h.Until = c.begin(f), anyLapse
	c.Holds = append(c.Holds, h)
	r.Holds = append(r.Holds, h)
	return h
}

// weight returns the number of permits that an event names.
func (t *Timeline) weight(e *history.Event) int { return cmp.Or(e.Weight, t.Header.Permits()) }

// anyLapse is the end of validity of a hold whose end is unknown. The first lapse of its
// token counts as its end.
const anyLapse = math.MinInt64

// noEnd is the end of validity of a hold that only a release ends. It has no lapse.
const noEnd = math.MaxInt64

// validityEnd returns the end of validity that a return states.
func validityEnd(e *history.Event) int64 {
	if e.Until == 0 {
		return noEnd
	}
	return e.Until
}

// blank returns an empty hold, with the number of a retired one if there is any.
func (t *Timeline) blank() *Hold {
	t.serial++
	last := len(t.spare) - 1
	if last < 0 {
		t.Places++
		t.crowded()
		return &Hold{number: t.Places - 1, serial: t.serial}
	}
	h := t.spare[last]
	t.spare = t.spare[:last]
	number, ends := h.number, h.Keys.ends
	clear(ends)
	*h = Hold{}
	h.number, h.serial, h.Keys.ends = number, t.serial, ends
	return h
}

// finished reports whether no further event can change a verdict about the hold. A dead client causes only
// lapses and late writes.
func (h *Hold) finished() bool {
	lease, section := &h.Windows[LeaseWindow], &h.Windows[SectionWindow]
	if len(lease.implied)+len(section.implied) > 0 && (lease.awaits(h.Client) || section.awaits(h.Client)) {
		return false // a call under way may still show that it was granted
	}
	return h.Over || h.Client.Dead && (lease.Over || !lease.Begun && h.Writes == 0)
}

// retireAll retires the holds that no further event can concern. It begins with the last one, which is at the
// end of the lists from which it is removed.
func (t *Timeline) retireAll() {
	for i := len(t.retiring) - 1; i >= 0; i-- {
		if h := t.retiring[i]; !h.retired && h.finished() {
			t.retire(h)
		}
	}
	t.retiring, t.Changes = t.retiring[:0], t.Changes[:0]
}

func (t *Timeline) retire(h *Hold) {
	h.retired = true
	h.Client.drop(h)
	h.Client.strand(h)
	if len(h.Client.Sections)+len(h.Client.unanswered) > 0 {
		h.Client.leaveAll(h)
	}
	h.Client.Holds = Remove(h.Client.Holds, h)
	h.Resource.Holds = Remove(h.Resource.Holds, h)
	if t.FollowStragglers && h.Writes > 0 && h.Granted {
		h.Resource.late = append(h.Resource.late,
			straggler{client: h.Client.Number, token: h.Token, granted: h.GrantedAt, writes: h.Writes})
	}
	t.reuse(h)
}

// reuse frees a retired hold and its number when no window refers to it.
func (t *Timeline) reuse(h *Hold) {
	if h.retired && h.references == 0 {
		t.spare = append(t.spare, h)
	}
}

// straggler is a hold that is over while a write under it may still be applied.
type straggler struct {
	client  int
	token   string
	granted history.Time
	writes  int
}

// Straggled counts one write of a straggler as applied, and returns when its hold was granted. It returns false
// if there is no such straggler.
func (r *Resource) Straggled(client int, token string) (history.Time, bool) {
	for i, s := range r.late {
		if s.token != token || client != 0 && s.client != client {
			continue
		}
		if r.late[i].writes--; r.late[i].writes == 0 {
			r.late = Remove(r.late, r.late[i])
		}
		return s.granted, true
	}
	return 0, false
}

func isTryStep(step string) bool {
	return step == history.BeforeSend || step == history.Queued || step == history.Woken
}

// step records that a try read its clock, or that it was queued or woken.
func (t *Timeline) step(f *Fact, force bool) bool {
	f.Hold = f.Actor.Find(f.Event, isCalled)
	h := f.Hold
	if h == nil {
		return force
	}
	if f.Name == history.BeforeSend {
		h.Sending, h.SentAt = true, f.Time
		return true
	}
	if h.queued() == (f.Name == history.Queued) {
		return force && t.contradict("client %d, which tries for %s, is %s once more", f.Client, f.lock(), f.Name)
	}
	if f.Name == history.Woken {
		h.Queue.leave(f.Actor, f.Time)
		return true
	}
	if h.Queue == nil {
		h.Queue = &Queue{}
	}
	h.Queue.in, h.Queue.since = true, f.Actor.begin(f)
	return true
}

func (t *Timeline) acquire(f *Fact, force bool) bool {
	if f.Actor.calls(f) {
		if !force {
			return false
		}
		t.twice(f, "acquire")
	}
	f.Hold = t.newHold(f)
	f.Actor.Wanted = f.Hold.Resource
	t.Faults.ended = t.Faults.ended[:0]
	return true
}

func (t *Timeline) granted(f *Fact, force bool) bool {
	if f.Hold = f.Actor.Find(f.Event, isCalled); f.Hold == nil {
		if !force {
			return false
		}
		t.unasked(f, "granted")
		f.Hold = t.newHold(f)
	}
	t.Faults.ended = t.Faults.ended[:0]
	h := f.Hold
	f.Actor.Wanted = nil
	f.closeTry(h)
	if held := f.Actor.holding(f); held != nil {
		t.reenter(f, held)
		return true
	}
	f.Actor.held++
	h.Granted, h.GrantedAt, h.Weight = true, f.Time, t.weight(f.Event)
	t.declare(f, h)
	h.AtGrant = t.vouchedBy(f, h)
	h.Fence = f.Fence
	if f.TTL != 0 {
		h.TTL = f.TTL
	}
	return true
}

func (t *Timeline) refused(f *Fact, force bool) bool {
	if f.Hold = f.Actor.Find(f.Event, isCalled); f.Hold == nil {
		return force && t.unasked(f, "refused")
	}
	f.closeTry(f.Hold)
	if f.Actor.holding(f) != nil {
		f.Hold.Keys = Keys{ends: f.Hold.Keys.ends} // the keys belong to the hold that is entered
	}
	f.Hold.end(f.Time)
	return true
}

// end marks a hold as over, or a try that was refused.
func (h *Hold) end(now history.Time) {
	h.Client.drop(h)
	h.Over, h.EndedAt = true, now
}

func (t *Timeline) extend(f *Fact, force bool) bool {
	if f.Hold = f.Actor.Find(f.Event, isGranted); f.Hold == nil {
		if f.Hold = f.Actor.about(f.Event); f.Hold == nil || !force {
			return force && (f.extendReleased() || t.contradict("client %d extends %s, which it does not hold", f.Client, f.lock()))
		}
	}
	h := f.Hold
	if h.Extend.Open && h.Extend.At == f.Time {
		if !force {
			return false
		}
		t.twice(f, "extend")
	}
	h.Extend, h.ExtendTTL = f.Actor.begin(f), f.TTL
	h.Keys.Extended, h.Keys.Kept = 0, h.Keys.Set
	// Even if the extension fails, some nodes may have received the earlier end.
	if f.Until != 0 && h.Granted && f.Until < h.Until {
		h.declare(f.Until, f.Time)
	}
	if f.Until != 0 && h.UnknownEnd == nil {
		t.expect(h, f.Until)
	}
	return true
}

func (t *Timeline) extended(f *Fact, force bool) bool {
	if !force && f.Actor.Find(f.Event, isCalled) != nil {
		return false // a grant of this instant under the token comes first: it is no re-entry by this extension
	}
	if f.Hold = f.Actor.Find(f.Event, isExtending); f.Hold == nil {
		if f.releasedExtended() {
			return true
		}
		if !force {
			return false
		}
		t.uncalled(f, "an extension", &f.Actor.adrift.extensions)
		if f.Hold = f.Actor.about(f.Event); f.Hold == nil {
			return true
		}
	}
	f.close(&f.Hold.Extend)
	f.Hold.Keys.Confirmed = f.Hold.Keys.Extended
	t.declare(f, f.Hold)
	f.Hold.AtExtension = t.vouchedBy(f, f.Hold)
	return true
}

func (t *Timeline) extendFailed(f *Fact, force bool) bool {
	if f.Hold = f.Actor.Find(f.Event, isExtending); f.Hold == nil {
		return f.releasedExtended() || force && t.uncalled(f, "an extension", &f.Actor.adrift.extensions)
	}
	f.close(&f.Hold.Extend)
	return true
}

// about finds the hold of an event other than a return. If that hold is over, the event waits for a grant of the
// same instant under the same token, which begins another hold.
func (t *Timeline) about(f *Fact, force bool) bool {
	h := f.Actor.about(f.Event)
	if !force && (h == nil || h.Granted && !h.goesOn(f.Time)) {
		return false
	}
	f.Hold = h
	return true
}

func (t *Timeline) lost(f *Fact, force bool) bool {
	if !t.about(f, force) || f.Hold == nil {
		return force
	}
	if h := f.Hold; !h.Lost {
		h.Lost, h.LostAt = true, f.Time
	}
	return true
}

// lapse ends the validity of the hold that has declared this end. Each other of the client's holds and tries under
// the token may declare it later.
func (t *Timeline) lapse(f *Fact, force bool) bool {
	f.Hold = f.Actor.Find(f.Event, func(h *Hold) bool { return isHeld(h) && h.Until == f.Until && !h.lapsed.over })
	if f.Hold == nil && (!t.about(f, force) || f.Hold == nil) {
		return force
	}
	f.Hold.lapse(f.Event)
	for _, h := range f.Actor.Holds {
		if h != f.Hold && f.Until != 0 && h.Until != f.Until && !h.Over && h.Token == f.Token && h.Resource == f.Hold.Resource {
			h.recall(f.Event)
		}
	}
	return true
}

// check and its return, checked, may concern a hold that is over.
func (t *Timeline) check(f *Fact, force bool) bool {
	if f.Hold = f.Actor.Find(f.Event, isHeld); f.Hold == nil {
		if !force || !t.about(f, force) || f.Hold == nil {
			return force
		}
	}
	f.Hold.Check = f.Actor.begin(f)
	return true
}

func (t *Timeline) checked(f *Fact, force bool) bool {
	f.Hold = f.Actor.Find(f.Event, func(h *Hold) bool { return h.Check.Open })
	if f.Hold == nil {
		return force
	}
	f.close(&f.Hold.Check)
	return true
}

func (t *Timeline) release(f *Fact, force bool) bool {
	h := f.Actor.Find(f.Event, isGranted)
	if h == nil {
		if h = f.Actor.about(f.Event); h == nil || !force {
			return force && t.contradict("client %d releases %s, which it was never granted, or has released before", f.Client, f.lock())
		}
		t.again(f, h)
	}
	if h.leave(f) {
		return true
	}
	f.Hold = h
	if !h.Release.Open {
		h.Release, h.ReleaseCalled = f.Actor.begin(f), true
	}
	h.Keys.Claimed = h.Keys.Set
	h.Keys.Entry.Claimed = h.Keys.Entry.There
	return true
}

// again reports the contradiction if the hold's release was recorded before.
func (t *Timeline) again(f *Fact, h *Hold) {
	switch {
	case h.Over:
		t.contradict("client %d releases %s, which is over", f.Client, f.lock())
	case h.Release.Open && h.Release.At == f.Time:
		t.twice(f, "release")
	}
}

func (t *Timeline) released(f *Fact, force bool) bool {
	if h := f.Actor.Find(f.Event, isLeaving); h != nil {
		h.left(f)
		return true
	}
	if f.Hold = f.Actor.Find(f.Event, isReleasing); f.Hold == nil {
		return force && t.uncalled(f, "a release", &f.Actor.adrift.releases)
	}
	f.close(&f.Hold.Release)
	f.Hold.end(f.Time)
	f.Actor.rememberRelease(f.Hold, f)
	return true
}

// Find returns the hold of a token, if the timeline still keeps it, or nil.
func (r *Resource) Find(token string) *Hold {
	for _, h := range r.Holds {
		if h.Token == token {
			return h
		}
	}
	return nil
}
