package checker

import "github.com/lockstorm/lockstorm/history"

// interruption is what there is to tell, beside the pair, when a hold was over, somebody else held
// the lock, and an extension was granted that says that the hold has gone on. The pair is
// that hold and the other one, with the time in which both were held if it has.
type interruption struct {
	empty bool         // the hold was over before it began
	over  history.Time // since when
	from  history.Time // since when the other held the lock
	held  *End         // of that; nil: it went on
	live  bool         // the other held it still when the extension returned
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

// interrupted tells of a hold that was over, and went on.
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
