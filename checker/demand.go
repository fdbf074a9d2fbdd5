package checker

import "github.com/lockstorm/lockstorm/history"

// Wait is a series of tries of a client: see [Waits].
type Wait struct {
	Client   int
	Resource string
	From     history.Time // the first call
	To       history.Time // the grant, the last return, or the client's death
	Tries    int          // including one that was granted or did not return
	Granted  bool         // it ended with a grant
	Open     bool         // the history ended while a try was under way
}

// Outage is one outage of a resource: see [Outages].
type Outage struct {
	Resource string
	From, To history.Time
}

// Demand calls waits for every series of tries and outages for every outage when it ends, and
// in Finish for those that go on. Call it before the first event. A checker of some
// properties alone then measures these two and nothing else.
func (p *Checker) Demand(waits func(Wait), outages func(Outage)) {
	if len(p.meters) == 0 {
		for _, newMeter := range []func(history.Header, *state) meter{newWaitMeter, newOutageMeter} {
			m := newMeter(p.state.header, p.state)
			p.meters = append(p.meters, m)
			p.listen(m)
		}
	}
	for _, m := range p.meters {
		switch m := m.(type) {
		case *waitMeter:
			m.each = waits
		case *outageMeter:
			m.each = outages
		}
	}
}

// tell reports the series of a try, which ends as v says.
func (w *waitMeter) tell(try *hold, v Wait) {
	if w.each == nil {
		return
	}
	v.Client, v.Resource, v.From, v.Tries = try.client.number, try.resource.name, try.acquire.at, 1
	if row := try.client.row(try.resource); row != nil {
		v.From, v.Tries = row.since, row.tries+1
	}
	w.each(v)
}

// gaveUp reports a series that ended with a refusal.
func (w *waitMeter) gaveUp(c *client, r *row) {
	if w.each != nil {
		w.each(Wait{Client: c.number, Resource: r.resource.name, From: r.since, To: r.last, Tries: r.tries})
	}
}
