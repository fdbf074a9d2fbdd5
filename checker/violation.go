package checker

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// violation is the first time that a rule was broken. It is complete when the
// overlap has ended.
type violation struct {
	rule  rule
	pair  Pair
	held  *hold // of the window that was there, until the overlap ends
	came  *hold // of the one that came
	empty bool  // the one that came was over before it began

	endless bool // only a release ends the one that was there

	ownEnd history.Time
	since  history.Time // the begin of the window that was there, or was over
	got    [2]string    // how the two windows began
	faults []note
	ending string // what ended the overlap
	clash  *clash
	gap    *interruption // of a hold that was over and goes on; nil: the windows overlap
}

func newViolation(r rule, held span, t *turn, n *notes, c *clash) *violation {
	v := &violation{
		rule: r, held: held.hold, came: t.hold, empty: t.kind == emptyTurn, endless: held.hold.endless(),
		pair:  Pair{First: held.grant(), Second: t.grant(), From: t.at, To: t.at},
		since: held.from, clash: c,
		got: [2]string{got(held.hold, held.from), got(t.hold, t.at)},
	}
	v.faults = n.between(v.pair.First.Call, v.pair.Second.Granted)
	if v.empty {
		v.ownEnd = t.since
		v.held, v.came = nil, nil
	}
	return v
}

// grant names the grant of a live window. Of a try that never returned it is
// the act that shows that it was granted.
func (s span) grant() Grant {
	g := s.hold.grant()
	if !s.hold.returned {
		g.Granted = s.from
	}
	return g
}

func (t *turn) grant() Grant { return span{hold: t.hold, from: t.at}.grant() }

// ended tells the violation that a window has ended.
func (v *violation) ended(t *turn) {
	if t.hold != v.held && t.hold != v.came {
		return
	}
	v.pair.To = t.at
	v.ending = v.end(t)
	v.clash.counted(v.held, t.at)
	v.held, v.came = nil, nil
}

func (v *violation) end(t *turn) string {
	if t.by == history.End {
		v.pair.Open = true
		return "until the history ended"
	}
	who := fmt.Sprintf("client %d", t.hold.client.number)
	return until(t.at, t.by, who, "the validity of "+who)
}

// until says what ended a window.
func until(then history.Time, by history.Kind, who, validity string) string {
	what := validity + " ended"
	switch by {
	case history.Release:
		what = who + " called release"
	case history.Lost:
		what = who + " was told of the loss"
	case history.Expiring:
		what = who + " was warned"
	case history.Kill:
		what = who + " died"
	}
	return "until " + what + " at " + at(then)
}

// seal completes a violation that was still going on when the history ended.
func (v *violation) seal(end history.Time) {
	if v.held == nil {
		return
	}
	v.pair.To, v.pair.Open = end, true
	v.ending = "until the history ended"
	v.clash.counted(v.held, end)
	v.held, v.came = nil, nil
}

// where is the overlap, or, of a grant that was over before it returned, the time in
// which it would have had to find the lock free; of a hold that goes on, the time in which
// it was over.
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

func (v *violation) story() string {
	if v.gap != nil {
		return v.lateStory()
	}
	a, b := &v.pair.First, &v.pair.Second
	var s strings.Builder
	if before := tell(v.faults, v.since, false); before != "" {
		s.WriteString(before + "; ")
	}
	fmt.Fprintf(&s, "client %d %s %q (token %s) at %s", a.Client, v.got[0], a.Resource, short(a.Token), at(v.since))
	switch {
	case v.endless:
		s.WriteString(", without an end")
	case a.Validity > 0:
		fmt.Fprintf(&s, " with %s of validity left", span4(a.Validity))
	}
	if more := v.clash.vouched.at; more > v.since {
		fmt.Fprintf(&s, " and was last granted more time at %s", at(more))
	}
	if since := tell(v.faults, v.since, true); since != "" {
		s.WriteString("; " + since)
	}
	fmt.Fprintf(&s, "; client %d %s %q (token %s) at %s", b.Client, v.got[1], b.Resource, short(b.Token), at(v.pair.From))
	if v.empty {
		fmt.Fprintf(&s, " with nothing left of it; at no point from %s on was the lock free, client %d held it", at(v.ownEnd), a.Client)
		return s.String() + v.clash.clause()
	}
	fmt.Fprintf(&s, ", while client %d still held it: their %ss overlap by %s, %s",
		a.Client, v.rule.window, span4(v.pair.Overlap()), v.ending)
	return s.String() + v.clash.clause()
}

// got says how a window of a hold began.
func got(h *hold, from history.Time) string { return gotAs(!h.returned, h.granted, from) }

// gotAs is got of a hold that acted under a try which had not returned, or was granted.
func gotAs(acted bool, granted, from history.Time) string {
	switch {
	case acted:
		return "acted, its acquire not having returned, as the holder of"
	case granted < from:
		return "was granted more time for"
	}
	return "was granted"
}

// SameOverlap reports whether a story of two leases and one of two sections tell of one
// overlap: they differ in the word alone.
func SameOverlap(lease, section string) bool {
	return lease != "" && strings.ReplaceAll(lease, "their windows overlap", "their sections overlap") == section
}
