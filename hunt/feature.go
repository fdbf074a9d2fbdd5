package hunt

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// feature is one thing that can happen in a run, together with what it happens amid: a
// run with one that no other had goes somewhere new.
type feature struct {
	kind    history.Kind
	outcome history.Outcome
	why     string       // of a key that is gone
	fault   nemesis.Kind // that begins or ends

	holders, tries uint8 // of the resource that they are the most of, two standing for more
	own, rival     uint8 // the fewest votes of a holder, and the most of another
}

// note takes down the feature of an event.
func (c *closeness) note(e *history.Event) {
	f := feature{kind: e.Kind, outcome: e.Outcome}
	switch e.Kind {
	case history.KeyGone, history.EntryGone:
		f.why = e.Reason
	case history.FaultStart, history.FaultEnd:
		f.fault = c.plan[e.Fault-1].Action.Kind()
	}
	for _, r := range c.resources {
		r.amid(&f, c.voting)
	}
	c.features[f] = true
}

func (r *claims) amid(f *feature, voting history.Electorate) {
	var holders, tries, rival uint8
	own := uint8(voting.All)
	for _, t := range r.tries {
		n := uint8(voting.Count(t.keys))
		switch {
		case t.holds:
			holders, own = holders+1, min(own, n)
		case !t.over:
			tries, rival = tries+1, max(rival, n)
		}
	}
	if holders > 0 {
		f.own, f.rival = max(f.own, own), max(f.rival, rival)
	}
	f.holders, f.tries = max(f.holders, min(holders, 2)), max(f.tries, min(tries, 2))
}
