package checker

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// interruption is what there is to tell, beside the pair, when a hold was over, somebody else held
// the lock, and an extension was granted that says that the hold has gone on. The pair is
// that hold and the other one, with the time in which both were held if it has.
type interruption struct {
	empty bool         // the hold was over before it began
	over  history.Time // since when
	from  history.Time // since when the other held the lock
	held  string       // until when
	live  bool         // the other held it still when the extension returned
	at    history.Time // when the extension returned
}

func newInterrupted(r rule, was *ended, t *turn, n *notes, c *clash) *violation {
	before := t.hold.past
	own, other := span{hold: t.hold, from: before.from}, was.grant
	held := until(was.at, was.by, "it", "its validity")
	if was.live {
		held = "beyond that"
	}
	if was.acted {
		other.Granted = was.from
	}
	v := &violation{
		rule: r, since: before.from, clash: c,
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

func (v *violation) lateStory() string {
	a, b, l := &v.pair.First, &v.pair.Second, v.gap
	var told []string
	add := func(text string) {
		if text != "" {
			told = append(told, text)
		}
	}
	how := "and held it until its validity ended at " + at(l.over)
	if l.empty {
		how = "with nothing left of it"
	}
	since := after(v.faults, v.since)
	add(tell(v.faults, v.since, false))
	add(fmt.Sprintf("client %d %s %q (token %s) at %s %s", a.Client, v.got[0], a.Resource, short(a.Token), at(v.since), how))
	add(tell(since, l.from, false))
	add(fmt.Sprintf("client %d %s %q (token %s) at %s and held it %s", b.Client, v.got[1], b.Resource, short(b.Token), at(l.from), l.held))
	add(tell(since, l.from, true))
	when := "only then, at " + at(l.at)
	if l.live {
		when = "at " + at(l.at)
	}
	add(fmt.Sprintf("%s, client %d was granted more time, as if it had held it all along", when, a.Client))
	return strings.Join(told, "; ") + v.clash.clause()
}
