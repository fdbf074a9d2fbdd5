package checker

import (
	"fmt"
	"reflect"

	"github.com/lockstorm/lockstorm/history"
)

// violation is the first violation of a rule. It is complete when the overlap has ended.
type violation struct {
	rule  rule
	pair  Pair
	held  *hold // the first hold, until the overlap ends
	came  *hold // the second hold
	empty bool  // the second window ended before it began

	endless bool // only a release ends the first hold

	ownEnd   history.Time
	since    history.Time // when the first window began
	got      [2]string    // how the two windows began, as [got] says
	faults   []loggedFault
	ending   ending // of the overlap
	conflict *conflict
	gap      *interruption // for a hold that had ended and was extended; nil: the windows overlap
}

func newViolation(r rule, held span, t *windowEvent, n *faultLog, c *conflict) *violation {
	v := &violation{
		rule: r, held: held.hold, came: t.hold, empty: t.kind == windowEmpty, endless: held.hold.endless(),
		pair:  Pair{First: held.grant(), Second: t.grant(), From: t.at, To: t.at},
		since: held.from, conflict: c,
		got: [2]string{got(held.hold, held.from), got(t.hold, t.at)},
	}
	v.faults = n.between(v.pair.First.Call, v.pair.Second.Granted)
	if v.empty {
		v.ownEnd = t.since
		v.held, v.came = nil, nil
	}
	return v
}

// grant returns the grant of a live window. If the try never returned, the first act that
// shows its grant counts as the grant.
func (s span) grant() Grant {
	g := s.hold.grant()
	if !s.hold.returned {
		g.Granted = s.from
	}
	return g
}

func (t *windowEvent) grant() Grant { return span{hold: t.hold, from: t.at}.grant() }

// ended notes that one of the two windows has ended.
func (v *violation) ended(t *windowEvent) {
	if t.hold != v.held && t.hold != v.came {
		return
	}
	v.pair.To = t.at
	v.ending = v.end(t)
	v.conflict.counted(v.held, t.at)
	v.held, v.came = nil, nil
}

func (v *violation) end(t *windowEvent) ending {
	v.pair.Open = t.by == history.End
	return ending{t.by, t.hold.client.number, t.at}
}

// seal completes a violation that goes on at the end of the history.
func (v *violation) seal(end history.Time) {
	if v.held == nil {
		return
	}
	v.pair.To, v.pair.Open = end, true
	v.ending = ending{history.End, v.pair.First.Client, end}
	v.conflict.counted(v.held, end)
	v.held, v.came = nil, nil
}

// where is the overlap. For a window that ended before it began it is the time in which the
// lock should have been free; for a late extension, the time in which the hold had ended.
func (v *violation) where() *Place {
	p := Place{Resource: v.pair.First.Resource, From: v.pair.From, To: v.pair.To}
	switch {
	case v.gap != nil:
		p.From, p.To = v.gap.over, v.gap.at
	case v.empty:
		p.From = v.ownEnd
	}
	return &p
}

// finding describes the two holds, the faults meanwhile, and the cause.
func (v *violation) finding() Finding {
	f := Finding{Verdict: Violated, First: &v.pair, Where: v.where(), Causes: v.conflict.causes()}
	if v.gap != nil {
		f.Events = v.interrupted()
		return f
	}
	a, b := &v.pair.First, &v.pair.Second
	held := began(a, v.got[0], v.since)
	switch {
	case v.endless:
		held.Text += ", without an end"
	case a.Validity > 0:
		held.Text += fmt.Sprintf(" with %s of validity left", span4(a.Validity))
	}
	if more := v.conflict.vouched.at; more > v.since {
		held.Text += " and was last granted more time at " + at(more)
	}
	came := began(b, v.got[1], v.pair.From)
	f.Events = append(eventsOf(v.faults, v.since, false), held)
	f.Events = append(f.Events, eventsOf(v.faults, v.since, true)...)
	overlap := Event{Role: RoleOverlap, From: v.pair.From, To: v.pair.To, Client: a.Client, Resource: a.Resource}
	switch {
	case v.empty:
		came.Text += " with nothing left of it"
		overlap = overlap.between(v.ownEnd, v.pair.From).say("at no point from %s on was the lock free, client %d held it", at(v.ownEnd), a.Client)
	case v.pair.Overlap() == 0 && v.ending.by == history.End:
		overlap = overlap.say("client %d still held it: the two holds begin to overlap, and the history ends", a.Client)
	default:
		overlap = overlap.say("client %d still held it: the two holds overlap by %s, %v", a.Client, span4(v.pair.Overlap()), v.ending)
	}
	f.Events = append(f.Events, came, overlap)
	return f
}

// began says that a client had the lock from an instant on.
func began(g *Grant, how string, from history.Time) Event {
	e := Event{Role: RoleAccess, From: from, Client: g.Client, Resource: g.Resource, Token: g.Token}
	return e.say("client %d %s %s at %s", g.Client, how, lockOf(g.Resource, g.Token), at(from))
}

// got says how a window of a hold began.
func got(h *hold, from history.Time) string { return gotAs(!h.returned, h.granted, from) }

// gotAs is got for a hold that acted before its try returned, or was granted at an instant.
func gotAs(acted bool, granted, from history.Time) string {
	switch {
	case acted:
		return "acted, its acquire not having returned, as the holder of"
	case granted < from:
		return "was granted more time for"
	}
	return "was granted"
}

// ending is what ended a hold.
type ending struct {
	by     history.Kind // release, lost, expiring, kill, lapse, or end: the history ended first
	client int
	at     history.Time
}

func (e ending) String() string {
	what := "client %d's validity ended"
	switch e.by {
	case history.End:
		return "until the history ended"
	case history.Release:
		what = "client %d called release"
	case history.Lost:
		what = "client %d was told of the loss"
	case history.Expiring:
		what = "client %d was warned"
	case history.Kill:
		what = "client %d died"
	}
	return fmt.Sprintf("until "+what+" at %s", e.client, at(e.at))
}

// SameOverlap reports whether a finding of lease exclusion and one of section exclusion
// describe the same overlap.
func SameOverlap(lease, section Finding) bool {
	return len(lease.Events) > 0 && reflect.DeepEqual(lease.Events, section.Events) && reflect.DeepEqual(lease.Causes, section.Causes)
}

// violations counts the violations of a property and keeps the first.
type violations struct {
	count int
	first Finding
}

// add counts a violation. It calls tell for the first only, because describing a violation
// takes longer than finding it.
func (b *violations) add(tell func() Finding) {
	if b.count++; b.count == 1 {
		b.first = tell()
	}
}

// violated returns the finding if there was a violation.
func (b *violations) violated() Finding {
	f := b.first
	f.Verdict, f.Count = Violated, b.count
	return f
}
