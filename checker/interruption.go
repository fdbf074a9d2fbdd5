package checker

import "github.com/lockstorm/lockstorm/history"

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

func newInterrupted(r rule, was *ended, t *windowEvent, n *faultLog, c *conflict) *violation {
	before := t.hold.past
	own, other := span{hold: t.hold, from: before.from}, was.grant
	var held *End
	if !was.live {
		held = &End{By: was.by.String(), Client: other.Client, At: was.at}
	}
	if was.acted {
		other.Granted = was.from
	}
	v := &violation{
		rule: r, since: before.from, conflict: c,
		pair: Pair{First: own.grant(), Second: other, From: max(before.end, was.from), To: was.at},
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
