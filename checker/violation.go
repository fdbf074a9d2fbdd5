package checker

import (
	"reflect"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// violation is the first violation of a rule. It is complete when the overlap has ended.
type violation struct {
	kind  windowKind
	pair  Pair
	held  *hold // the first hold, until the overlap ends
	came  *hold // the second hold
	empty bool  // the second window ended before it began

	endless bool // only a release ends the first hold

	ownEnd   history.Time
	since    history.Time // when the first window began
	got      [2]string    // how the two windows began: see HoldBegan
	faults   []loggedFault
	ending   *End // of the overlap
	conflict *conflict
	gap      *interruption // for a hold that had ended and was extended; nil: the windows overlap
}

func newViolation(kind windowKind, held span, t *windowEvent, n *faultLog, c *conflict) *violation {
	v := &violation{
		kind: kind, held: held.hold, came: t.hold, empty: t.change == windowEmpty, endless: held.hold.endless(),
		pair:  Pair{First: Grant(grantOf(held.hold, held.from)), Second: Grant(grantOf(t.hold, t.at)), From: t.at, To: t.at},
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

func (v *violation) end(t *windowEvent) *End {
	v.pair.Open = t.by == history.End
	return &End{By: t.by.String(), Client: t.hold.client.number, At: t.at}
}

// seal completes a violation that goes on at the end of the history.
func (v *violation) seal(end history.Time) {
	if v.held == nil {
		return
	}
	v.pair.To, v.pair.Open = end, true
	v.ending = &End{By: history.End.String(), Client: v.pair.First.Client, At: end}
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
	held.Validity, held.More = a.Validity, v.endless
	if more := v.conflict.vouched.at; more > v.since {
		held.To = more
	}
	f.Events = append(statementsOf(v.faults, v.since, false), held)
	f.Events = append(f.Events, statementsOf(v.faults, v.since, true)...)
	f.Events = append(f.Events, began(b, v.got[1], v.pair.From))
	if v.empty {
		f.Events = append(f.Events,
			Statement{Kind: HoldEnded, Client: b.Client, Detail: "empty"},
			Statement{Kind: NeverFree, Client: a.Client, At: v.ownEnd})
		return f
	}
	f.Events = append(f.Events, Statement{
		Kind: Overlap, Client: a.Client, Other: b.Client, From: v.pair.From, To: v.pair.To,
		Detail: windowNames[v.kind], For: v.pair.Overlap(), End: v.ending,
	})
	return f
}

// began says that a client had the lock from an instant on.
func began(g *Grant, how string, from history.Time) Statement {
	return Statement{Kind: HoldBegan, Client: g.Client, Resource: g.Resource, Token: g.Token, Detail: how, At: from, Call: g.Call}
}

// got says how a window of a hold began. See [HoldBegan].
func got(h *hold, from history.Time) string { return gotAs(!h.returned, h.granted, from) }

// gotAs is got for a hold that acted before its try returned, or was granted at an instant.
func gotAs(acted bool, granted, from history.Time) string {
	switch {
	case acted:
		return "acted"
	case granted < from:
		return "extended"
	}
	return "granted"
}

// interruption describes a late extension: a hold ended, another client held the lock, and
// then an extension of the first hold was granted. The pair of the violation is the two
// holds, with the time in which both were held, if there is one.
type interruption struct {
	empty bool         // the first hold ended before it began
	over  history.Time // when the first hold ended
	from  history.Time // when the other hold began
	held  *End         // of the other hold; nil: it went on
	live  bool         // the other hold went on when the extension returned
	at    history.Time // when the extension returned
}

func newInterrupted(kind windowKind, was *ended, t *windowEvent, n *faultLog, c *conflict) *violation {
	before := t.hold.past
	own, other := Grant(grantOf(t.hold, before.from)), was.grant
	var held *End
	if !was.live {
		held = &End{By: was.by.String(), Client: other.Client, At: was.at}
	}
	if was.acted {
		other.Granted = was.from
	}
	v := &violation{
		kind: kind, since: before.from, conflict: c,
		pair: Pair{First: own, Second: other, From: max(before.end, was.from), To: was.at},
		got:  [2]string{got(t.hold, before.from), gotAs(was.acted, was.grant.Granted, was.from)},
		gap: &interruption{
			empty: before.from == before.end, over: before.end,
			from: was.from, live: was.live, held: held, at: t.at,
		},
	}
	v.faults = n.between(v.pair.First.Call, t.at)
	return v
}

// interrupted describes a hold that ended and was extended late.
func (v *violation) interrupted() []Statement {
	a, b, l := &v.pair.First, &v.pair.Second, v.gap
	own := Statement{Kind: HoldEnded, Client: a.Client, End: &End{By: history.Lapse.String(), Client: a.Client, At: l.over}}
	if l.empty {
		own.Detail, own.End = "empty", nil
	}
	other := Statement{Kind: HoldEnded, Client: b.Client, End: l.held}
	if l.held == nil {
		other.Detail = "beyond"
	}
	since := after(v.faults, v.since)
	told := append(statementsOf(v.faults, v.since, false), began(a, v.got[0], v.since), own)
	told = append(told, statementsOf(since, l.from, false)...)
	told = append(told, began(b, v.got[1], l.from), other)
	told = append(told, statementsOf(since, l.from, true)...)
	return append(told, Statement{Kind: LateExtension, Client: a.Client, At: l.at, More: l.live})
}

// SameOverlap reports whether a finding of lease exclusion and one of section exclusion
// describe the same overlap.
func SameOverlap(lease, section Finding) bool {
	if len(lease.Events)+len(section.Events) == 0 { // they were stored in words
		a, b := lease.Story(), section.Story()
		return a != "" && strings.ReplaceAll(a, "their windows overlap", "their sections overlap") == b
	}
	told := slices.Clone(lease.Events)
	for i := range told {
		if told[i].Kind == Overlap {
			told[i].Detail = windowNames[sectionWindow]
		}
	}
	return reflect.DeepEqual(told, section.Events) && reflect.DeepEqual(lease.Causes, section.Causes)
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
