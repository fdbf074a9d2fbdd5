package checker

import (
	"fmt"
	"reflect"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// violation is the first violation of a rule. It is complete when the overlap has ended.
type violation struct {
	pair  Pair
	held  *timeline.Hold // the first hold, until the overlap ends
	came  *timeline.Hold // the second hold
	empty bool           // the second window ended before it began

	endless bool // only a release ends the first hold

	ownEnd   history.Time
	since    history.Time // when the first window began
	got      [2]string    // how the two windows began, as [got] says
	permits  string       // how many were taken, as a clause; "": a hold takes all
	faults   []timeline.Fault
	ending   ending // of the overlap
	conflict *conflict
	gap      *interruption // for a hold that had ended and was extended; nil: the windows overlap
}

func newViolation(held timeline.LiveWindow, t *timeline.WindowEvent, c *conflict) *violation {
	v := &violation{
		held: held.Hold, came: t.Hold, empty: t.Change == timeline.WindowEmpty, endless: held.Hold.Endless(),
		pair:  Pair{First: Grant(timeline.GrantOf(held.Hold, held.From)), Second: Grant(timeline.GrantOf(t.Hold, t.At)), From: t.At, To: t.At},
		since: held.From, conflict: c,
		got: [2]string{got(held.Hold, held.From), got(t.Hold, t.At)},
	}
	v.faults = c.faults.Between(v.pair.First.Call, v.pair.Second.Granted)
	if v.empty {
		v.ownEnd = t.Since
		v.held, v.came = nil, nil
	}
	return v
}

// ended notes that one of the two windows has ended.
func (v *violation) ended(t *timeline.WindowEvent) {
	if t.Hold != v.held && t.Hold != v.came {
		return
	}
	v.pair.To = t.At
	v.ending = v.end(t)
	v.conflict.follow(v.held, t.At)
	v.held, v.came = nil, nil
}

func (v *violation) end(t *timeline.WindowEvent) ending {
	v.pair.Open = t.By == history.End
	return ending{t.By, t.Hold.Client.Number, t.At}
}

// seal completes a violation that goes on at the end of the history.
func (v *violation) seal(end history.Time) {
	if v.held == nil {
		return
	}
	v.pair.To, v.pair.Open = end, true
	v.ending = ending{history.End, v.pair.First.Client, end}
	v.conflict.follow(v.held, end)
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
		held.Text += fmt.Sprintf(" with %s of validity left", textfmt.FourDigits(a.Validity))
	}
	if more := v.conflict.granted.At; more > v.since {
		held.Text += " and was last granted more time at " + at(more)
	}
	came := began(b, v.got[1], v.pair.From)
	f.Events = append(eventsOf(v.faults, v.since, false), held)
	f.Events = append(f.Events, eventsOf(v.faults, v.since, true)...)
	overlap := Event{Role: RoleOverlap, From: v.pair.From, To: v.pair.To, Client: a.Client, Resource: a.Resource}
	switch {
	case v.empty:
		came.Text += " with nothing left of it"
		free := "was the lock free"
		if v.permits != "" {
			free = "were there permits enough"
		}
		overlap = overlap.between(v.ownEnd, v.pair.From).say("at no point from %s on %s, client %d held it", at(v.ownEnd), free, a.Client)
	case v.pair.Overlap() == 0 && v.ending.by == history.End:
		overlap = overlap.say("client %d still held it: the two holds begin to overlap, and the history ends", a.Client)
	default:
		overlap = overlap.say("client %d still held it: the two holds overlap by %s, %v", a.Client, textfmt.FourDigits(v.pair.Overlap()), v.ending)
	}
	overlap.Text += v.permits
	f.Events = append(f.Events, came, overlap)
	return f
}

// began says that a client had the lock from an instant on.
func began(g *Grant, how string, from history.Time) Event {
	e := Event{Role: RoleAccess, From: from, Client: g.Client, Resource: g.Resource, Token: g.Token}
	return e.say("client %d %s %s at %s", g.Client, how, lockOf(g.Resource, g.Token), at(from))
}

// got says how a window of a hold began.
func got(h *timeline.Hold, from history.Time) string { return gotAs(!h.Granted, h.GrantedAt, from) }

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

// interruption describes a late extension: a hold ended, another client held the lock, and
// then an extension of the first hold was granted. The pair of the violation is the two
// holds, with the time in which both were held, if there is one.
type interruption struct {
	empty bool         // the first hold ended before it began
	over  history.Time // when the first hold ended
	by    history.Kind // what ended it
	from  history.Time // when the other hold began
	held  *ending      // of the other hold; nil: it went on
	live  bool         // the other hold went on when the extension returned
	at    history.Time // when the extension returned
}

func newInterrupted(was *ended, t *timeline.WindowEvent, c *conflict) *violation {
	before := t.Hold.PastWindow
	own, other := Grant(timeline.GrantOf(t.Hold, before.From)), was.grant
	var held *ending
	if !was.live {
		held = &ending{was.by, other.Client, was.at}
	}
	if was.acted {
		other.Granted = was.from
	}
	v := &violation{
		since: before.From, conflict: c,
		pair: Pair{First: own, Second: other, From: max(before.End, was.from), To: was.at},
		got:  [2]string{gotAs(!t.Hold.Granted, before.Granted, before.From), gotAs(was.acted, was.grant.Granted, was.from)},
		gap: &interruption{
			empty: before.From == before.End, over: before.End, by: before.By,
			from: was.from, live: was.live, held: held, at: t.At,
		},
	}
	v.faults = c.faults.Between(v.pair.First.Call, t.At)
	return v
}

// interrupted describes a hold that ended and was extended late.
func (v *violation) interrupted() []Event {
	a, b, l := &v.pair.First, &v.pair.Second, v.gap
	own, other := began(a, v.got[0], v.since), began(b, v.got[1], l.from)
	if l.empty {
		own.Text += " with nothing left of it"
	} else {
		own.To = l.over
		own.Text += fmt.Sprintf(" and held it %v", ending{l.by, a.Client, l.over})
	}
	late := Event{Role: RoleOverlap, From: l.at, Client: a.Client, Resource: a.Resource, Token: a.Token}
	only := "only then, "
	if l.live {
		only = ""
	}
	if l.held == nil {
		other.Text += " and held it beyond that"
	} else {
		other.To = l.held.at
		other.Text += fmt.Sprintf(" and held it %v", l.held)
	}
	since := after(v.faults, v.since)
	told := append(eventsOf(v.faults, v.since, false), own)
	told = append(told, eventsOf(since, l.from, false)...)
	told = append(told, other)
	told = append(told, eventsOf(since, l.from, true)...)
	return append(told, late.say("%sat %s, client %d was granted more time, as if it had held it all along", only, at(l.at), a.Client))
}

// SameOverlap reports whether a finding of lease exclusion and one of section exclusion
// describe the same overlap.
func SameOverlap(lease, section Finding) bool {
	return len(lease.Events) > 0 && reflect.DeepEqual(lease.Events, section.Events) && reflect.DeepEqual(lease.Causes, section.Causes)
}

// ended is a copy of a window that has ended, or of a live one. Its hold may have been
// retired.
type ended struct {
	load  int // of the resource before
	live  bool
	grant Grant
	acted bool // its acquire had not returned
	from  history.Time
	at    history.Time
	by    history.Kind
	other contender

	unknown *timeline.UnknownEnd // nil: the history states the end of its validity
}

func (e *ended) note(w timeline.LiveWindow, at *timeline.WindowEvent, b *backing) {
	h := w.Hold
	e.from, e.at, e.by = w.From, at.At, at.By
	e.unknown = h.UnknownEnd
	e.acted, e.other = !h.Granted, contenderOf(h, b.holds.Of(h).lost)
	g := &e.grant
	g.Client, g.Resource, g.Token = h.Client.Number, h.Resource.Name, h.Token
	g.Call, g.Granted, g.Validity = h.Acquire.At, h.GrantedAt, h.AtGrant.Left
}
