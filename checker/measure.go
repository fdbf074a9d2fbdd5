package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Measurements are figures of one history. Durations are on the ground clock,
// in nanoseconds.
type Measurements struct {
	// Tries is the number of calls of acquire, Grants that of those that
	// returned with the lock.
	Tries  int `json:"tries"`
	Grants int `json:"grants"`

	// AcquireP50, P99, P999 and Max are the time from call to return of the
	// tries that were granted. The quantiles are upper bounds and at most
	// 1/32 too high.
	AcquireP50  time.Duration `json:"acquire_p50"`
	AcquireP99  time.Duration `json:"acquire_p99"`
	AcquireP999 time.Duration `json:"acquire_p999"`
	AcquireMax  time.Duration `json:"acquire_max"`

	// LongestOutage is the longest time in which a resource was wanted, held
	// by nobody and granted to nobody. It begins with the first call of
	// acquire at which nobody holds the resource, or with the end of a hold
	// while somebody tries; it ends with the next grant or, if there is
	// none, with the last return of a try (with the history's end, if one
	// has not returned).
	LongestOutage time.Duration `json:"longest_outage"`

	// StaleApplies is the number of writes that took effect under a grant
	// after one under a newer grant of the same resource.
	StaleApplies int `json:"stale_applies"`

	// Faults is the number of faults that took place.
	Faults int `json:"faults"`

	// Rejected is the number of accesses that the guarded resource refused.
	Rejected int `json:"rejected"`
}

// measures takes the measurements.
type measures struct {
	Measurements
	ledger  *ledger
	acquire histogram
}

// outage is what is known of the present state of one resource.
type outage struct {
	held   int // holds whose validity has not ended
	trying int // tries that have not returned
	since  history.Time
	until  history.Time // the last return of a try in it
	going  bool
}

func (m *measures) observe(f *fact) {
	h := f.hold
	switch f.Kind {
	case history.Acquire:
		m.Tries++
		h.trying = true
		h.resource.outage.trying++
		h.resource.outage.start(f.Time)
	case history.Granted:
		m.Grants++
		m.acquire.add(f.Time.Sub(h.acquire.at))
		m.granted(h, f.Time)
	case history.Refused:
		if h != nil {
			h.stopTrying()
			h.resource.outage.until = f.Time
		}
	case history.Extended:
		m.continued(h)
	case history.Release, history.Lost, history.Lapse:
		m.ended(h, f)
	case history.Kill:
		m.killed(f.client)
	case history.FaultStart:
		m.Faults++
	case history.ReadDone, history.WriteDone:
		if f.Outcome == history.Declined {
			m.Rejected++
		}
	case history.Apply:
		m.applied(f)
	}
}

func (o *outage) start(now history.Time) {
	if !o.going && o.held == 0 && o.trying > 0 {
		o.going, o.since, o.until = true, now, now
	}
}

func (m *measures) stop(o *outage, now history.Time) {
	if o.going {
		m.LongestOutage = max(m.LongestOutage, now.Sub(o.since))
		o.going = false
	}
}

func (m *measures) granted(h *hold, now history.Time) {
	h.stopTrying()
	o := &h.resource.outage
	m.stop(o, now)
	if !h.expired() {
		h.holding = true
		o.held++
	}
}

func (m *measures) ended(h *hold, f *fact) {
	if h == nil || !h.holding || f.Kind == history.Lapse && !h.expired() {
		return
	}
	h.holding = false
	h.resource.outage.held--
	h.resource.outage.start(f.Time)
}

// continued counts a hold again whose extension came after its lapse.
func (m *measures) continued(h *hold) {
	if h == nil || h.holding {
		return
	}
	if w := &h.windows[leaseRule]; w.begun && !w.over {
		h.holding = true
		h.resource.outage.held++
	}
}

// killed forgets the tries of a client that has died. What it held it goes on
// to hold.
func (m *measures) killed(c *client) {
	for _, h := range c.holds {
		h.stopTrying()
	}
}

func (h *hold) stopTrying() {
	if h.trying {
		h.trying = false
		h.resource.outage.trying--
	}
}

func (m *measures) applied(f *fact) {
	r := m.ledger.resource(f.Resource)
	granted, known := f.hold.grantedAt()
	if f.hold == nil {
		granted, known = r.straggled(f.Client, f.Token)
	}
	if !known {
		return
	}
	if granted < r.applied {
		m.StaleApplies++
	}
	r.applied = max(r.applied, granted)
}

func (h *hold) grantedAt() (history.Time, bool) {
	if h == nil || !h.returned {
		return 0, false
	}
	return h.granted, true
}

// straggled returns the time of the grant under which a write was called that
// arrives only now, when the hold is over.
func (r *resource) straggled(client int, token string) (history.Time, bool) {
	for i, s := range r.stragglers {
		if s.token != token || client != 0 && s.client != client {
			continue
		}
		if r.stragglers[i].writes--; r.stragglers[i].writes == 0 {
			r.stragglers = remove(r.stragglers, r.stragglers[i])
		}
		return s.granted, true
	}
	return 0, false
}

func (m *measures) result(end history.Time) Measurements {
	for _, r := range m.ledger.resources {
		stop := end
		if r.outage.trying == 0 {
			stop = r.outage.until
		}
		m.stop(&r.outage, stop)
	}
	m.AcquireP50 = m.acquire.quantile(500)
	m.AcquireP99 = m.acquire.quantile(990)
	m.AcquireP999 = m.acquire.quantile(999)
	m.AcquireMax = m.acquire.longest
	return m.Measurements
}
