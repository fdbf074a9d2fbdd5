package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Measurements are figures of one history, over all of its resources. Durations
// are on the ground clock, in nanoseconds.
type Measurements struct {
	// Tries is the number of calls of acquire, Grants that of those that
	// returned with the lock. Requests is how many messages clients sent for the
	// lock: to acquire, to extend and to release it.
	Tries    int `json:"tries"`
	Grants   int `json:"grants"`
	Requests int `json:"requests"`

	// AcquireP50, P99, P999 and Max are the time from call to return of the
	// tries that were granted. The quantiles are upper bounds and at most
	// 1/32 too high.
	AcquireP50  time.Duration `json:"acquire_p50"`
	AcquireP99  time.Duration `json:"acquire_p99"`
	AcquireP999 time.Duration `json:"acquire_p999"`
	AcquireMax  time.Duration `json:"acquire_max"`

	// An outage is a time in which a resource was wanted, held by nobody and
	// granted to nobody. It begins with the first call of acquire at which
	// nobody holds the resource, or with the end of a hold while somebody tries;
	// it ends with the next grant or, if there is none or no try was under way for
	// longer than the longest TTL, with the last return of a try (with the
	// history's end, if one has not returned). LongestOutage is the longest,
	// TotalOutage all of them together.
	LongestOutage time.Duration `json:"longest_outage"`
	TotalOutage   time.Duration `json:"total_outage"`

	// Wanted is the time in which a resource was held or in an outage, and
	// Availability the share of it in which it was held; 1 if nobody wanted any.
	// The time that an acquire takes is outage: locks and plans compare by it, with
	// the same work.
	Wanted       time.Duration `json:"wanted"`
	Availability float64       `json:"availability"`

	// HolderDeaths is how often a client died that held a resource, as its
	// validity goes. GrantsAfterDeath is after how many of these deaths the
	// resource was granted again, and NextGrantAfterDeath the longest time that
	// this took.
	HolderDeaths        int           `json:"holder_deaths"`
	GrantsAfterDeath    int           `json:"grants_after_death"`
	NextGrantAfterDeath time.Duration `json:"next_grant_after_death"`

	// LongestWait is the longest time that a client went on trying for one
	// resource: from the first call of a row of tries to the grant or, if there
	// was none, to the last return (to the client's death, or the history's end, if
	// a try was under way). A row ends with a grant, and where longer than the
	// longest TTL no try was under way. MostPassedOver is the most grants to others
	// during one row.
	LongestWait    time.Duration `json:"longest_wait"`
	MostPassedOver int           `json:"most_passed_over"`

	// A round is tries for a resource that nobody holds, each called while another
	// of them is under way. It ends when one is granted, or when none is under way any
	// more: the round was split if two or more took part. SplitRounds is the number of those.
	// RoundsToFirstGrant is with which of its tries the client that was first to be
	// granted a resource got it: the most of any resource, and 0 if none was granted.
	SplitRounds        int `json:"split_rounds"`
	RoundsToFirstGrant int `json:"rounds_to_first_grant"`

	// Woken is how often a client that waited in a queue was woken. Herd is the
	// most tries that were woken between two grants of a resource.
	Woken int `json:"woken"`
	Herd  int `json:"herd"`

	// OrphanKeys is the number of keys that expired on a node after their try had
	// been refused or released: nobody had deleted them. It is 0 where the history
	// does not record the nodes' keys.
	OrphanKeys int `json:"orphan_keys"`

	// StaleApplies is the number of writes that took effect under a grant
	// after one under a newer grant of the same resource.
	StaleApplies int `json:"stale_applies"`

	// Faults is the number of faults that took place.
	Faults int `json:"faults"`

	// Rejected is the number of accesses that the guarded resource refused.
	// WronglyRejected are those of them whose client still held the lock, as its
	// validity goes, under the newest grant of all.
	Rejected        int `json:"rejected"`
	WronglyRejected int `json:"wrongly_rejected"`
}

// measures takes the measurements.
type measures struct {
	Measurements
	ledger  *ledger
	keys    bool          // the history records the nodes' keys
	ttl     time.Duration // the longest
	acquire histogram
	held    time.Duration // in all
	over    []*hold       // that were refused or released in this instant
}

func newMeasures(h history.Header, l *ledger) *measures {
	return &measures{ledger: l, keys: h.Keys, ttl: h.LongestTTL}
}

// measured is what the measurements have to remember of one resource.
type measured struct {
	grants int32
	newest history.Time // the last grant

	outage     outage
	deaths     deaths
	round      round
	herd       int      // tries that were woken since the last grant
	orphans    []orphan // keys of tries that are over
	applied    history.Time
	stragglers []straggler
}

// part is what the measurements have to remember of one hold.
type part struct {
	trying  bool  // it counts as tried
	holding bool  // it counts as held
	round   int32 // that it takes part in; 0: none
	grants  int32 // of the resource, at the call
	woken   int32 // the number of grants when it was woken last, and one
}

func (m *measures) observe(f *fact) {
	h := f.hold
	switch f.Kind {
	case history.Acquire:
		m.Tries++
		m.tried(h, f.Time)
	case history.Granted:
		m.Grants++
		m.Requests += f.K
		m.acquire.add(f.Time.Sub(h.acquire.at))
		m.granted(h, f.Time)
	case history.Refused:
		m.Requests += f.K
		m.refused(h, f.Time)
	case history.Extended:
		m.Requests += f.K
		m.continued(h, f.Time)
	case history.ExtendFailed:
		m.Requests += f.K
	case history.Released:
		m.Requests += f.K
		m.leave(h)
	case history.Release, history.Lost, history.Lapse:
		m.ended(h, f)
	case history.Kill:
		m.killed(f.client, f.Time)
	case history.Step:
		m.stepped(f)
	case history.KeySet, history.KeyGone:
		m.keyed(f)
	case history.FaultStart:
		m.Faults++
	case history.ReadDone, history.WriteDone:
		if f.Outcome == history.Declined {
			m.rejected(f)
		}
	case history.Apply:
		m.applied(f)
	}
}

func (m *measures) tried(h *hold, now history.Time) {
	if h.client.dead {
		return
	}
	m.beginTry(h, now)
	m.goOn(h, now)
	h.joinRound()
}

func (m *measures) granted(h *hold, now history.Time) {
	m.beginHold(h, now)
	m.succeed(h)
	m.endRow(h, now)
	m.comfort(h.resource, now)
	r := &h.resource.measured
	r.grants++
	r.newest, r.herd = now, 0
}

func (m *measures) refused(h *hold, now history.Time) {
	if h == nil {
		return
	}
	h.stopTrying()
	h.resource.measured.outage.until = now
	m.giveUp(h, now)
	m.leaveRound(h)
	m.leave(h)
}

// killed forgets the tries of a client that has died. What it held it goes on to
// hold, unless nothing could ever end that.
func (m *measures) killed(c *client, now history.Time) {
	m.endRows(c, now)
	for _, h := range c.holds {
		if h.part.trying {
			h.stopTrying()
			h.resource.measured.outage.until = now
			m.leaveRound(h)
		}
	}
	for _, h := range c.holds {
		if h.part.holding {
			m.mourn(h.resource, now)
		}
		if h.orphaned() {
			m.endHold(h, now)
		}
	}
}

// result completes the measurements with what is still going on at the end.
func (m *measures) result(end history.Time) Measurements {
	for _, c := range m.ledger.clients {
		m.endRows(c, end)
	}
	for _, r := range m.ledger.resources {
		m.endOutage(r, end)
	}
	m.Wanted = m.held + m.TotalOutage
	m.Availability = 1
	if m.Wanted > 0 {
		m.Availability = float64(m.held) / float64(m.Wanted)
	}
	m.AcquireP50 = m.acquire.quantile(500)
	m.AcquireP99 = m.acquire.quantile(990)
	m.AcquireP999 = m.acquire.quantile(999)
	m.AcquireMax = m.acquire.longest
	return m.Measurements
}
