package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// vacancies measures for how long a free resource is granted to nobody while a client waits for it,
// without a fault.
//
// A resource is free if no window of a hold is open and no release is under way or, if holds can be shared, if those
// leave enough permits for each client that waits. After a hold that ended
// by itself, or whose release has an unknown outcome, its keys may stay for the longest TTL. All other
// keys are the lock's own doing: it keeps no other client waiting with them unless something goes wrong.
//
// A client waits while a try of its is under way. Refused tries are one wait if no gap between them is
// longer than the bound. The longest gap is left out: a client that gave up may come back late, and find the
// resource free.
//
// Nothing is measured while a fault goes on, and after it until the longest TTL and the bound of a grant
// have passed: so much time a lock has to recover. A pause, a death, a node or a link that is down, and a
// watch that is answered late count as faults.
type vacancies struct {
	timeline *timeline.Timeline
	gap      time.Duration // refused tries further apart are two waits
	readers  []vacancyReader
	vacant   timeline.PerResource[vacant]
	uses     timeline.PerHold[holdUse]
	rows     timeline.PerResource[timeline.PerClient[refusedRow]]

	touched   []*timeline.Resource // in this instant
	granted   []*timeline.Hold     // in this instant
	refusals  []*timeline.Hold     // in this instant
	changed   []*timeline.Hold     // in this instant
	disturbed bool                 // in this instant
	from      history.Time         // what was before is not measured
	going     int                  // faults
}

// vacant is what is known of one resource.
type vacant struct {
	held       int            // permits of holds whose window is open, or whose release is under way
	open       int            // tries under way
	waits      bool           // a client waits for the free resource
	since      history.Time   // when that began
	tried      history.Time   // when no try was under way any more
	kept       history.Time   // until when keys of a hold that is over may be there
	keeps      bool           // from this instant on they may
	grants     int            // so far
	earlier    int            // of these: before this instant
	longestGap time.Duration  // between two tries of this wait
	granted    *timeline.Hold // in this instant
	refused    *timeline.Hold // in this instant
}

// holdUse says how a hold counts for its resource.
type holdUse struct {
	trying, holding bool // holding: a window is open, or a release is under way
	weight          int  // of which so many permits are counted
	acted, released bool // in this instant: as a holder; its release returned, with a known outcome
	grants          int  // of the resource, as of the call
}

// vacancy is a time in which a free resource was granted to nobody, though a client waited for it.
type vacancy struct {
	resource *timeline.Resource
	from, to history.Time
	waiter   *timeline.Hold // has waited longest
	refused  bool           // now
	shares   bool           // it has several permits
	granted  *timeline.Hold // ended it; nil: it goes on

	since     history.Time // when the waiter first called acquire: its refused tries in a row are one wait
	passed    int          // grants to others since then
	overtaken bool         // somebody else was granted it twice since then
}

// Refusal is a try that was refused although no fault took place.
type Refusal struct {
	try *timeline.Hold

	Client int
	Waited time.Duration // since the call
	InRow  int           // see [history.Bounds.Refusals]
	Since  history.Time  // when the client called for the first time in this row
	Passed int           // grants to others since then
}

// ReadRefusals passes each [Refusal] of the history that a timeline reads to see.
func ReadRefusals(line *timeline.Timeline, see func(Refusal)) {
	(&shared{}).readVacancies(line, refusalReader(see))
}

// refusalReader is a [vacancyReader].
type refusalReader func(Refusal)

func (refusalReader) leastVacancy() time.Duration { return math.MaxInt64 }
func (refusalReader) vacancy(vacancy)             {}
func (r refusalReader) refusal(f Refusal)         { r(f) }

// vacancyReader receives what [vacancies] measures.
type vacancyReader interface {
	// leastVacancy returns the longest wait that the reader does not want.
	leastVacancy() time.Duration
	// vacancy receives a longer wait when it ends, and when a try of it is refused.
	vacancy(v vacancy)
	// refusal receives each refusal without a fault.
	refusal(r Refusal)
}

// readVacancies adds a reader to the history's vacancies, which are measured once.
func (s *shared) readVacancies(line *timeline.Timeline, r vacancyReader) *vacancies {
	if s.vacancies == nil {
		s.vacancies = &vacancies{timeline: line, gap: cmp.Or(line.Header.Bounds.Free, line.Header.LongestTTL), from: timeline.LongAgo}
		line.Listen(s.vacancies)
	}
	s.vacancies.readers = append(s.vacancies.readers, r)
	return s.vacancies
}

func (v *vacancies) Wants() timeline.Kinds {
	return timeline.KindSet(history.Acquire, history.Granted, timeline.Reentered, history.Refused, history.Extended, history.Release, history.Released, history.Lost, history.Lapse,
		history.FaultStart, history.FaultEnd, history.NodeDown, history.NodeUp, history.LinkDown, history.LinkUp, history.Pause, history.Resume, history.Kill,
		history.Leader, history.EntriesSeen)
}

func (v *vacancies) Observe(f *timeline.Fact) {
	h := f.Hold
	switch f.Kind {
	case history.Acquire, history.Granted, history.Refused, history.Extended, history.Release, history.Released, history.Lost, history.Lapse:
		if h != nil {
			v.observeHold(h, f)
		}
	case timeline.Reentered:
		v.stopTrying(f.Try)
	case history.EntriesSeen:
		v.disturbed = v.disturbed || f.Silence() > v.gap/requiredLooks
	default:
		v.observeFault(f)
	}
}

func (v *vacancies) observeHold(h *timeline.Hold, f *timeline.Fact) {
	u, w := v.uses.Of(h), v.touch(h.Resource)
	v.changed = append(v.changed, h)
	switch f.Kind {
	case history.Acquire:
		if w.open == 0 {
			apart := f.Time.Sub(w.tried)
			w.waits = w.waits && apart <= v.gap
			w.longestGap = max(w.longestGap, apart)
		}
		if !h.Client.Dead {
			u.trying, u.grants = true, w.grants
			w.open++
		}
	case history.Granted:
		v.stopTrying(h)
		v.granted = append(v.granted, h)
	case history.Refused:
		if u.trying {
			v.stopTrying(h)
			v.refusals = append(v.refusals, h)
		}
	case history.Extended, history.Release:
		u.acted = true
	case history.Released:
		u.acted, u.released = true, f.Outcome != history.Unknown
	}
}

func (v *vacancies) observeFault(f *timeline.Fact) {
	v.disturbed = true
	switch f.Kind {
	case history.FaultStart:
		v.going++
	case history.FaultEnd:
		v.going--
	case history.Kill:
		for _, h := range f.Actor.Holds {
			v.stopTrying(h)
			v.touch(h.Resource)
			v.changed = append(v.changed, h)
		}
	}
}

func (v *vacancies) touch(r *timeline.Resource) *vacant {
	if last := len(v.touched) - 1; last < 0 || v.touched[last] != r {
		v.touched = append(v.touched, r)
	}
	return v.vacant.Of(r)
}

func (v *vacancies) stopTrying(h *timeline.Hold) {
	if u := v.uses.Of(h); u.trying {
		w := v.touch(h.Resource)
		u.trying, w.tried = false, v.timeline.Now
		w.open--
	}
}

// settleHolds finds out which holds begin and end in the instant, when all of its events are known.
func (v *vacancies) settleHolds() {
	for _, h := range v.changed {
		u, w := v.uses.Of(h), v.vacant.Of(h.Resource)
		if u.trying && u.acted { // it was granted, although its call has not returned
			v.stopTrying(h)
			w.waits = false
		}
		before, now := u.holding, !h.Client.Dead && (h.Leased() || h.Release.Open)
		weight := 0
		if now {
			weight = h.Weight
		}
		w.held += weight - u.weight
		u.weight = weight
		if u.holding = now; !now && !u.released && (before || h.Granted && h.GrantedAt == v.timeline.Now) {
			w.keeps = true // it ended by itself, or it is not known whether its release did anything
		}
	}
	for _, h := range v.changed {
		u := v.uses.Of(h)
		u.acted, u.released = false, false
	}
	v.changed = v.changed[:0]
}

// refusedRow is the refusals of a client in a row, in each of which the resource was granted to another client
// since the refusal before, or since the first call. A fault, or a cancelled call, ends a row.
type refusedRow struct {
	tries  int
	grants int // of the resource, as of the last refusal
	begun  bool

	since history.Time // the first call
	first int          // grants of the resource as of that
}

// settleRows counts the grants of the instant, and then its refusals.
func (v *vacancies) settleRows() {
	for _, h := range v.granted {
		w := v.vacant.Of(h.Resource)
		w.granted = h
		w.grants++
	}
	for _, h := range v.refusals {
		w, row := v.vacant.Of(h.Resource), v.rows.Of(h.Resource).Of(h.Client)
		if h.Client.Dead {
			continue // a fault
		}
		w.refused = h
		if h.Acquire.At < v.from || h.Client.Cancelled >= h.Acquire.At {
			*row = refusedRow{begun: true, grants: w.grants, since: v.timeline.Now, first: w.grants}
			continue
		}
		since, first := v.waitOf(h)
		if w.grants > v.uses.Of(h).grants || row.begun && w.grants > row.grants {
			row.tries++
		}
		row.begun, row.grants, row.since, row.first = true, w.grants, since, first
		for _, reader := range v.readers {
			reader.refusal(Refusal{h, h.Client.Number, v.timeline.Now.Sub(h.Acquire.At), row.tries, since, w.grants - first})
		}
	}
	v.refusals = v.refusals[:0]
}

// waitOf returns when the client of a try first called acquire since it was last granted the resource, and how
// often the resource had been granted then.
func (v *vacancies) waitOf(h *timeline.Hold) (since history.Time, grants int) {
	if row := v.rows.Of(h.Resource).Of(h.Client); row.begun {
		return row.since, row.first
	}
	return h.Acquire.At, v.uses.Of(h).grants
}

// endRows ends the rows of the clients that are granted the resource in the instant.
func (v *vacancies) endRows() {
	for _, h := range v.granted {
		*v.rows.Of(h.Resource).Of(h.Client) = refusedRow{}
	}
	v.granted = v.granted[:0]
}

// Settle measures the waits that end in the instant, and begins others.
func (v *vacancies) Settle() {
	v.settleHolds()
	v.settleRows()
	for _, r := range v.touched {
		w := v.vacant.Of(r)
		if w.granted != nil || w.refused != nil {
			v.pass(r, w)
		}
		if w.keeps {
			w.keeps, w.kept = false, v.timeline.Now.Add(v.timeline.Header.LongestTTL)
		}
		full := w.held > 0 && (v.timeline.Header.Permits() == 1 || w.held+w.wants(r) > v.timeline.Header.Permits())
		if w.granted != nil || full {
			w.waits = false
		}
		if !w.waits && !full && (w.open > 0 || w.refused != nil) {
			w.waits, w.since, w.longestGap = true, v.timeline.Now, 0
		}
		w.granted, w.refused, w.earlier = nil, nil, w.grants
	}
	v.touched = v.touched[:0]
	v.endRows()
	if v.disturbed {
		v.disturb()
	}
}

// pass passes on a wait up to now to the readers for whom it is long enough.
func (v *vacancies) pass(r *timeline.Resource, w *vacant) {
	from, now := max(w.since.Add(w.longestGap), w.kept, v.from), v.timeline.Now
	if !w.waits || from > now {
		return
	}
	long := func(reader vacancyReader) bool { return now.Sub(from) > reader.leastVacancy() }
	if !slices.ContainsFunc(v.readers, long) || taken(v.timeline, r, nil, w.wants(r), now) {
		return
	}
	h := w.longest(r)
	if h == nil {
		return
	}
	since, grants := v.waitOf(h)
	passed := max(0, w.earlier-grants)
	for _, reader := range v.readers {
		if long(reader) {
			reader.vacancy(vacancy{
				resource: r, from: from, to: now, waiter: h, granted: w.granted, refused: h == w.refused,
				since: since, passed: passed, overtaken: passed >= v.timeline.Header.Clients,
				shares: v.timeline.Header.Permits() > 1,
			})
		}
	}
}

// wants returns the largest number of permits that a client waits for, or was granted or refused now.
func (w *vacant) wants(r *timeline.Resource) int {
	most := 1
	for _, h := range []*timeline.Hold{w.refused, w.granted} {
		if h != nil {
			most = max(most, h.Asked)
		}
	}
	for _, h := range r.Holds {
		if h.Acquire.Open && !h.Client.Dead {
			most = max(most, h.Asked)
		}
	}
	return most
}

// longest returns the try that waits longest, or that was granted or refused now.
func (w *vacant) longest(r *timeline.Resource) *timeline.Hold {
	longest := cmp.Or(w.refused, w.granted)
	for _, h := range r.Holds {
		if h.Acquire.Open && !h.Client.Dead && (longest == nil || h.Acquire.At < longest.Acquire.At) {
			longest = h
		}
	}
	return longest
}

// passOpen measures the waits with tries under way.
func (v *vacancies) passOpen() {
	for _, r := range v.timeline.ResourcesInOrder() {
		if w := v.vacant.Of(r); w.open > 0 {
			v.pass(r, w)
		}
	}
}

// disturb ends all waits at a fault, and says from when on they count again.
func (v *vacancies) disturb() {
	t := v.timeline
	if v.from < t.Now {
		v.passOpen()
	}
	v.disturbed, v.from = false, timeline.Forever
	stopped := func(c *timeline.Client) bool { return !c.Dead && (c.Paused || c.Unlinked != 0) }
	if v.going == 0 && t.Down == 0 && t.Header.Bounds.Grant > 0 && !slices.ContainsFunc(t.Clients, stopped) {
		v.from = t.Now.Add(t.Header.LongestTTL + t.Header.Bounds.Grant)
	}
}

// undisturbed reports whether no fault has taken place so far.
func (v *vacancies) undisturbed() bool { return v.from == timeline.LongAgo }

// tell describes a vacancy that was too long.
func (v *vacancy) tell(bound time.Duration) Event {
	h, name := v.waiter, quoted(v.resource.Name)
	e := Event{Role: RoleWait, From: v.from, To: v.to, Client: h.Client.Number, Resource: v.resource.Name, Token: h.Token}
	until := fmt.Sprintf("and it was still waiting at %s", at(v.to))
	switch {
	case v.granted == h:
		until = fmt.Sprintf("and was granted it only at %s", at(v.to))
	case v.granted != nil:
		until = fmt.Sprintf("until client %d was granted it at %s", v.granted.Client.Number, at(v.to))
	case v.refused:
		until = fmt.Sprintf("and was refused at %s", at(v.to))
	}
	free := "was free"
	if v.shares {
		free = "had permits enough for each who waited"
	}
	e = e.say("%s %s since %s, and client %d waited for it, having called acquire at %s, %s: for %s, more than %v (the bound free), nobody was granted a free lock, and no fault went on",
		name, free, at(v.from), e.Client, at(h.Acquire.At), until, textfmt.FourDigits(v.to.Sub(v.from)), bound)
	if v.overtaken {
		e.Text += fmt.Sprintf("; others had been granted it %d times since client %d first called acquire, at %s", v.passed, e.Client, at(v.since))
	}
	return e
}

// duty is the part of deadlock freedom that a vacancy violates.
func (v *vacancy) duty() Duty {
	if v.overtaken {
		return GrantsEachClient
	}
	return GrantsFreeLock
}
