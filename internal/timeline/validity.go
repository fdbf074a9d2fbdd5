package timeline

import (
	"container/heap"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// deadline is the end of validity of a hold that has not come, if its until is on the clock of the
// events' times.
type deadline struct {
	until  int64
	hold   *Hold
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
func (d *deadline) void() bool {
	return d.hold.serial != d.serial || d.hold.Over || d.hold.ReleaseCalled
}

// byFile reports whether holds end when the events' times reach their until.
func (t *Timeline) byFile() bool { return t.Header.UntilClock != history.ClientClock }

// expect notes that the hold ends at an until.
func (t *Timeline) expect(h *Hold, until int64) {
	if !t.byFile() || until == noEnd {
		return
	}
	if n := len(t.deadlines); n == cap(t.deadlines) { // those of holds that are over need no room
		t.deadlines = Without(t.deadlines, (*deadline).void)
		if len(t.deadlines) < n {
			heap.Init(&t.deadlines)
		}
	}
	heap.Push(&t.deadlines, deadline{until, h, h.serial})
}

// nextDeadline is the instant at which the next hold ends by its until; forever: none.
func (t *Timeline) nextDeadline() history.Time {
	if len(t.deadlines) == 0 { // usually there is none
		return Forever
	}
	return t.firstDeadline()
}

func (t *Timeline) firstDeadline() history.Time {
	for t.deadlines[0].void() {
		heap.Pop(&t.deadlines)
		if len(t.deadlines) == 0 {
			return Forever
		}
	}
	return history.Time(t.deadlines[0].until)
}

// nextLapse returns the next hold's lapse, which the history does not record, as of the present instant.
func (t *Timeline) nextLapse() *history.Event {
	d := heap.Pop(&t.deadlines).(deadline)
	e := &history.Event{
		Time: t.Now, Kind: history.Lapse, Client: d.hold.Client.Number, Resource: d.hold.Resource.Name, Token: d.hold.Token, Until: d.until,
	}
	if d.until < int64(t.Now) {
		e.Since = max(history.Time(d.until), 1) // 0 would mean now
	}
	return e
}

// UnknownEnd is a hold whose validity has an end that the history does not tell: its return states a
// validity without an until, or an until that is on another clock than the header names.
type UnknownEnd struct {
	At      history.Time // of the return
	Sure    history.Time // at least until then the validity went on
	Left    time.Duration
	Foreign bool // there is an until
}

// declare sets the end of validity of a hold by a return.
func (t *Timeline) declare(f *Fact, h *Hold) {
	h.declare(validityEnd(f.Event), f.Call.At)
	h.UnknownEnd = nil
	if !t.byFile() {
		return
	}
	foreign := f.Until != 0 && t.Header.UntilClock == "" && !t.onClock(f, h)
	if foreign || f.Until == 0 && f.Validity > 0 {
		h.UnknownEnd = &UnknownEnd{At: f.Time, Sure: f.Call.At.Add(f.Validity), Left: f.Validity, Foreign: foreign}
		return
	}
	switch {
	case h.lapsed.over:
	case h.Until <= int64(f.Time):
		h.lapsed.over, h.lapsed.at = true, history.Time(h.Until)
	default:
		t.expect(h, h.Until)
	}
}

// onClock reports whether the until of a return can be on the clock of the events' times: the lock has
// read its clock during the call, and the validity, or at most the TTL, was left then.
func (t *Timeline) onClock(f *Fact, h *Hold) bool {
	from, to := int64(f.Call.At.Add(-Noticeable)), int64(f.Time.Add(Noticeable))
	if f.Validity != 0 {
		read := f.Until - int64(f.Validity)
		return from <= read && read <= to
	}
	ttl := max(f.TTL, h.TTL, t.Header.LongestTTL)
	return from <= f.Until && (ttl == 0 || f.Until <= to+int64(ttl))
}

// vouchedBy returns the validity that was left when a grant or an extension returned: what it states
// or, on the clock of the events' times, what its until implies.
func (t *Timeline) vouchedBy(f *Fact, h *Hold) Promise {
	x := Promise{At: f.Time, Left: f.Validity, Ends: f.Ends, ever: true}
	if f.Ends == 0 && f.Until != 0 && t.byFile() && h.UnknownEnd == nil {
		x.Ends = history.Time(f.Until)
	}
	switch {
	case f.Until == 0:
	case f.Validity == 0 && t.byFile() && h.UnknownEnd == nil:
		x.Left, x.Agrees = time.Duration(f.Until-int64(f.Time)), true
	case f.Now != 0:
		x.Agrees = f.Until-f.Now <= int64(f.Validity+Noticeable)
	default:
		x.Agrees = t.onClock(f, h)
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

// Expired reports whether the end of validity has come.
func (h *Hold) Expired() bool {
	return h.lapsed.over || h.Until == anyLapse && h.lapsed.any
}

// Expiry returns when the validity ended. If its end is unknown, that is the first lapse.
func (h *Hold) Expiry() history.Time {
	if h.Until == anyLapse {
		return h.lapsed.first
	}
	return h.lapsed.at
}

// declare sets the end of validity that a call declares. Lapses that were recorded before
// the call belong to another end.
func (h *Hold) declare(until int64, called history.Time) {
	h.Until, h.lapsed.over = until, false
	for _, l := range h.lapsed.recent {
		if l.ends(until) && l.told >= called {
			h.lapsed.over, h.lapsed.at = true, l.at
			return
		}
	}
}

// lapse notes that the client's clock has reached an end of validity.
func (h *Hold) lapse(e *history.Event) {
	l, at := &h.lapsed, lapsedAt(e)
	if !l.any {
		l.any, l.first = true, at
	}
	if now := (lapse{until: e.Until}); now.ends(h.Until) && !l.over {
		l.over, l.at = true, at
	}
	h.recall(e)
}

// recall keeps a lapse for a return that declares its end later.
func (h *Hold) recall(e *history.Event) {
	l := &h.lapsed
	if len(l.recent) == maxLapses {
		l.recent = append(l.recent[:0], l.recent[1:]...)
	}
	l.recent = append(l.recent, lapse{e.Until, lapsedAt(e), e.Time})
}

// ends reports whether the lapse is that of an end of validity: of any, if it does not say which.
func (p lapse) ends(until int64) bool { return p.until == until || p.until == 0 }

// lapsedAt is when the lapse was. It is earlier than the event if the lock declared its
// until only after the clock had reached it.
func lapsedAt(e *history.Event) history.Time {
	if 0 < e.Since && e.Since < e.Time {
		return e.Since
	}
	return e.Time
}

// Promise is the validity that was left when an extension, or the grant, returned.
type Promise struct {
	At     history.Time
	Left   time.Duration // 0: it is not known
	Ends   history.Time  // when the holder's clock is to reach its end, as it runs then; 0: it is not known, or never
	Agrees bool          // its until is no later, as far as the history shows
	ever   bool          // one has returned
}

// Promised returns the last extension, or the grant, and whether one has returned and says how much
// validity was left.
func (h *Hold) Promised() (last Promise, ever bool) {
	if h.AtExtension.ever {
		return h.AtExtension, h.AtExtension.Left != 0
	}
	return h.AtGrant, h.AtGrant.Left != 0
}

// Noticeable is the least difference of clocks that counts. On real machines every
// instant is recorded a little late.
const Noticeable = time.Millisecond
