package checker

import (
	"container/heap"
	"fmt"
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

// nextLapse returns the next hold's lapse, which the history does not record, as of an instant at or after
// the deadline.
func (l *state) nextLapse(now history.Time) *history.Event {
	d := heap.Pop(&l.deadlines).(deadline)
	e := &history.Event{
		Time: now, Kind: history.Lapse, Client: d.hold.client.number, Resource: d.hold.resource.name, Token: d.hold.token, Until: d.until,
	}
	if d.until < int64(now) {
		e.Since = max(history.Time(d.until), 1) // 0 would mean now
	}
	return e
}

// pass ends the present instant, and those at which holds end by their until, up to an event's.
func (p *Checker) pass(to history.Time) {
	for {
		if p.unsettled() {
			p.settle()
		}
		due := p.state.nextDeadline()
		if due >= to {
			break
		}
		p.now = due
	}
	p.now, p.atInstant = to, 0
}

// lapses ends the holds whose until has come.
func (p *Checker) lapses() {
	for p.state.nextDeadline() <= p.now {
		p.take(p.state.nextLapse(p.now), true)
	}
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

// undecided notes that it is not known whether a hold still went on when another began, and reports
// whether that is so.
func (x *exclusion) undecided(held *hold, other int, now history.Time) bool {
	open := held.openEnd
	if x.index != leaseRule || open == nil || now < open.sure {
		return false
	}
	if x.doubt == nil {
		f := because(Unknown, open.doubted(held, other, now))
		f.Where = &Place{Resource: held.resource.name, From: open.sure, To: now}
		x.doubt = &f
	}
	return true
}

// doubted says which events are missing.
func (o *openEnd) doubted(held *hold, other int, now history.Time) Event {
	why, remedy := "without an until", "write until on the clock of t"
	if o.foreign {
		why = "with an until that is not on the clock of t"
		remedy = `write a lapse event when the validity of a hold ends, with "until_clock":"client" in the header, or write until on the clock of t`
	}
	left := ""
	if o.left > 0 {
		left = fmt.Sprintf(" with %s of validity left", span4(o.left))
	}
	client, lock := held.client.number, lockOf(held.resource.name, held.token)
	e := Event{Role: RoleUnseen, From: o.at, To: now, Client: client, Resource: held.resource.name, Token: held.token}
	return e.say("client %d was granted %s at %s%s, %s; client %d was granted it at %s, and whether client %d still held it then is not known: %s",
		client, lock, at(o.at), left, why, other, at(now), client, remedy)
}

// byOneClock settles a history whose header does not name the clock of until for that of the events'
// times, because what happens is reported before the events show another. [Report.UntilClock] has the
// clock of a history that was judged before.
func (p *Checker) byOneClock() { p.byClient = nil }

// showsClientClock reports whether the event shows that until is on the clients' own clocks, of a
// history whose header does not name the clock.
func showsClientClock(e *history.Event) bool {
	return e.Kind == history.Lapse || e.Kind == history.FaultStart && e.Client != 0
}
