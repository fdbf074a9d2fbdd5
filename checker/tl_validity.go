package checker

import (
	"container/heap"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// deadline is the end of validity of a hold that has not come, if its until is on the clock of the
// events' times.
type deadline struct {
	until  int64
	hold   *hold
	serial uint64 // of the hold
}

// deadlines is a heap: the earliest is first.
type deadlines []deadline

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].until < d[j].until }
func (d deadlines) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *deadlines) Push(x any)        { *d = append(*d, x.(deadline)) }
func (d *deadlines) Pop() any {
	last := len(*d) - 1
	x := (*d)[last]
	*d = (*d)[:last]
	return x
}

// void reports whether nothing can lapse any more at the deadline.
func (d *deadline) void() bool { return d.hold.serial != d.serial || d.hold.over || d.hold.letGo }

// byFile reports whether holds end when the events' times reach their until.
func (l *state) byFile() bool { return l.header.UntilClock != history.ClientClock }

// expect notes that the hold ends at an until.
func (l *state) expect(h *hold, until int64) {
	if !l.byFile() || until == noEnd {
		return
	}
	if n := len(l.deadlines); n == cap(l.deadlines) { // those of holds that are over need no room
		l.deadlines = without(l.deadlines, (*deadline).void)
		if len(l.deadlines) < n {
			heap.Init(&l.deadlines)
		}
	}
	heap.Push(&l.deadlines, deadline{until, h, h.serial})
}

// nextDeadline is the instant at which the next hold ends by its until; forever: none.
func (l *state) nextDeadline() history.Time {
	for len(l.deadlines) > 0 && l.deadlines[0].void() {
		heap.Pop(&l.deadlines)
	}
	if len(l.deadlines) == 0 {
		return forever
	}
	return history.Time(l.deadlines[0].until)
}

// nextLapse returns the next hold's lapse, which the history does not record, as of the present instant.
func (l *state) nextLapse() *history.Event {
	d := heap.Pop(&l.deadlines).(deadline)
	e := &history.Event{
		Time: l.now, Kind: history.Lapse, Client: d.hold.client.number, Resource: d.hold.resource.name, Token: d.hold.token, Until: d.until,
	}
	if d.until < int64(l.now) {
		e.Since = max(history.Time(d.until), 1) // 0 would mean now
	}
	return e
}

// openEnd is a hold whose validity has an end that the history does not tell: its return states a
// validity without an until, or an until that is on another clock than the header names.
type openEnd struct {
	at      history.Time // of the return
	sure    history.Time // at least until then the validity went on
	left    time.Duration
	foreign bool // there is an until
}

// declare sets the end of validity of a hold by a return.
func (l *state) declare(f *fact, h *hold) {
	h.declare(validityEnd(f.Event), f.call.at)
	h.openEnd = nil
	if !l.byFile() {
		return
	}
	foreign := f.Until != 0 && l.header.UntilClock == "" && !l.onClock(f, h)
	if foreign || f.Until == 0 && f.Validity > 0 {
		h.openEnd = &openEnd{at: f.Time, sure: f.call.at.Add(f.Validity), left: f.Validity, foreign: foreign}
		return
	}
	switch {
	case h.lapsed.over:
	case h.until <= int64(f.Time):
		h.lapsed.over, h.lapsed.at = true, history.Time(h.until)
	default:
		l.expect(h, h.until)
	}
}

// onClock reports whether the until of a return can be on the clock of the events' times: the lock has
// read its clock during the call, and the validity, or at most the TTL, was left then.
func (l *state) onClock(f *fact, h *hold) bool {
	from, to := int64(f.call.at.Add(-noticeable)), int64(f.Time.Add(noticeable))
	if f.Validity != 0 {
		read := f.Until - int64(f.Validity)
		return from <= read && read <= to
	}
	ttl := max(f.TTL, h.ttl, l.header.LongestTTL)
	return from <= f.Until && (ttl == 0 || f.Until <= to+int64(ttl))
}

// vouchedBy returns the validity that was left when a grant or an extension returned: what it states
// or, on the clock of the events' times, what its until implies.
func (l *state) vouchedBy(f *fact, h *hold) extension {
	x := extension{at: f.Time, left: f.Validity}
	switch {
	case f.Until == 0:
	case f.Validity == 0 && l.byFile() && h.openEnd == nil:
		x.left, x.agrees = time.Duration(f.Until-int64(f.Time)), true
	case f.Now != 0:
		x.agrees = f.Until-f.Now <= int64(f.Validity+noticeable)
	default:
		x.agrees = l.onClock(f, h)
	}
	return x
}

// lapsed is what the history says about the ends of a hold's validity. A lapse ends only the
// validity with the same until: a clock that was set back reaches an earlier until after a
// later one. A lapse may come before the return that declares its until, while acquire or
// the extension is under way.
type lapsed struct {
	over bool         // the present end of validity has come
	at   history.Time // when it came

	any   bool         // there was a lapse
	first history.Time // when the first one was

	recent []lapse // the last lapses of other ends
}

// lapse is the instant at which a client's clock came to an end of validity.
type lapse struct {
	until int64
	at    history.Time
	told  history.Time // when it was recorded: at or after it
}

// maxLapses bounds the lapses that are kept for a later return. A call declares few untils
// before it returns.
const maxLapses = 8

// expired reports whether the end of validity has come.
func (h *hold) expired() bool {
	return h.lapsed.over || h.until == anyLapse && h.lapsed.any
}

// expiry returns when the validity ended. If its end is unknown, that is the first lapse.
func (h *hold) expiry() history.Time {
	if h.until == anyLapse {
		return h.lapsed.first
	}
	return h.lapsed.at
}

// declare sets the end of validity that a call declares. Lapses that were recorded before
// the call belong to another end.
func (h *hold) declare(until int64, called history.Time) {
	h.until, h.lapsed.over = until, false
	for _, l := range h.lapsed.recent {
		if l.ends(until) && l.told >= called {
			h.lapsed.over, h.lapsed.at = true, l.at
			return
		}
	}
}

// lapse notes that the client's clock has reached an end of validity.
func (h *hold) lapse(e *history.Event) {
	l, until, at := &h.lapsed, e.Until, lapsedAt(e)
	if !l.any {
		l.any, l.first = true, at
	}
	now := lapse{until, at, e.Time}
	if now.ends(h.until) && !l.over {
		l.over, l.at = true, at
	}
	if len(l.recent) == maxLapses {
		l.recent = append(l.recent[:0], l.recent[1:]...)
	}
	l.recent = append(l.recent, now)
}

// ends reports whether the lapse is that of an end of validity: of any, if it does not say which.
func (l lapse) ends(until int64) bool { return l.until == until || l.until == 0 }

// lapsedAt is when the lapse was. It is earlier than the event if the lock declared its
// until only after the clock had reached it.
func lapsedAt(e *history.Event) history.Time {
	if 0 < e.Since && e.Since < e.Time {
		return e.Since
	}
	return e.Time
}

// extension is the validity that was left when an extension, or the grant, returned.
type extension struct {
	at     history.Time
	left   time.Duration // 0: it is not known
	agrees bool          // its until is no later, as far as the history shows
}

// vouched returns the last extension, or the grant, and whether one has returned and says how much
// validity was left.
func (h *hold) vouched() (last extension, ever bool) {
	if h.renewed.at != 0 {
		return h.renewed, h.renewed.left != 0
	}
	return h.first, h.returned && h.first.left != 0
}

// noticeable is the least difference of clocks that counts. On real machines every
// instant is recorded a little late.
const noticeable = time.Millisecond
