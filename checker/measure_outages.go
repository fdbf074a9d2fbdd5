package checker

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// Outages is the times in which a resource was unavailable. An outage is a time in which a resource
// was wanted but neither held nor granted. It begins with the first call of acquire while nobody
// holds the resource, or with the end of a hold while a client tries. It ends with the next grant;
// or with the last return of a try, if no grant follows or no try was in progress for longer than
// the longest TTL; or with the history, if a try has not returned.
type Outages struct {
	LongestOutage time.Duration `json:"longest_outage" runs:"max"`
	TotalOutage   time.Duration `json:"total_outage" runs:"sum"`

	// MedianOutage, for many runs, is the median of the longest outage of each.
	MedianOutage time.Duration `json:"median_outage,omitempty" runs:"median LongestOutage"`

	// Wanted is the time in which a resource was held or in an outage. Availability is the share of
	// it in which the resource was held; 1 if it was never wanted. The time that an acquire takes
	// counts as outage, so that locks and plans are compared by the same work.
	Wanted       time.Duration `json:"wanted" runs:"sum"`
	Availability float64       `json:"availability"`
}

func (o *Outages) derive() {
	o.Availability = 1
	if o.Wanted > 0 {
		o.Availability = float64(o.Wanted-o.TotalOutage) / float64(o.Wanted)
	}
}

func (o *Outages) figures(runs int) []Figure {
	if o.Wanted == 0 {
		return nil
	}
	longest := "longest outage " + textfmt.Duration(o.LongestOutage)
	if runs > 1 {
		longest += " (median of runs " + textfmt.Duration(o.MedianOutage) + ")"
	}
	return []Figure{{"availability", []string{fmt.Sprintf("%.2f %%", 100*o.Availability), longest}}}
}

func (o *Outages) columns(*Measurements) []Column {
	return []Column{{"longest outage", textfmt.Duration(o.LongestOutage), "outage: somebody wanted the lock, and nobody had it or got it"}}
}

// outageMeter also tracks who holds each resource, counted by validity, and who tries to acquire
// it.
type outageMeter struct {
	Outages
	timeline *timeline.Timeline
	ttl      time.Duration // the longest
	held     time.Duration // in all
	outages  timeline.PerResource[outage]
	demand   *demand

	each func(Outage) // nil: nobody wants to be told
}

// outage is the current state of one resource.
type outage struct {
	going bool
	since history.Time
	until history.Time // the last return of a try in it
	taken history.Time // since when somebody holds the resource, if anybody does
}

func newOutageMeter(line *timeline.Timeline, d *demand) meter {
	return &outageMeter{timeline: line, ttl: line.Header.LongestTTL, demand: d}
}

func (*outageMeter) Wants() timeline.Kinds {
	return timeline.KindSet(history.Acquire, history.Granted, timeline.Reentered, history.Refused, history.Extended,
		history.Release, history.Lost, history.Lapse, history.Kill)
}

func (m *outageMeter) Observe(f *timeline.Fact) {
	switch h := f.Hold; {
	case f.Kind == history.Kill:
		m.killed(f.Actor, f.Time)
	case h == nil:
	case f.Kind == history.Acquire:
		m.tried(h, f.Time)
	case f.Kind == history.Granted:
		m.granted(h, f.Time)
	case f.Kind == history.Refused:
		m.giveUp(h, f.Time)
	case f.Kind == timeline.Reentered:
		m.demand.stopTrying(f.Try)
		m.continued(h, f.Time)
	case f.Kind == history.Extended:
		m.continued(h, f.Time)
	case f.Kind != history.Lapse || h.Expired():
		m.endHold(h, f.Time)
	}
}

func (m *outageMeter) tried(h *timeline.Hold, now history.Time) {
	if h.Client.Dead {
		return
	}
	r, o := h.Resource, m.outages.Of(h.Resource)
	if m.demand.resource(r).triers == 0 && now.Sub(o.until) > m.ttl {
		m.stop(r, o, o.until) // nobody wanted it since
	}
	m.demand.hold(h).trying = true
	m.demand.resource(r).triers++
	m.start(r, o, now)
}

// granted counts a grant as held, unless its validity is over already.
func (m *outageMeter) granted(h *timeline.Hold, now history.Time) {
	m.demand.stopTrying(h)
	m.stop(h.Resource, m.outages.Of(h.Resource), now)
	if !h.Expired() {
		m.hold(h, now)
	}
}

func (m *outageMeter) giveUp(h *timeline.Hold, now history.Time) {
	m.demand.stopTrying(h)
	m.outages.Of(h.Resource).until = now
}

// killed forgets the tries of a client that has died. Its holds go on, unless nothing could ever
// end them.
func (m *outageMeter) killed(c *timeline.Client, now history.Time) {
	for _, h := range c.Holds {
		if m.demand.hold(h).trying {
			m.giveUp(h, now)
		}
	}
	for _, h := range c.Holds {
		if h.Orphaned() {
			m.endHold(h, now)
		}
	}
}

// continued counts a hold again whose extension came after its lapse.
func (m *outageMeter) continued(h *timeline.Hold, now history.Time) {
	if !m.demand.hold(h).holding && h.Leased() {
		m.stop(h.Resource, m.outages.Of(h.Resource), now)
		m.hold(h, now)
	}
}

func (m *outageMeter) hold(h *timeline.Hold, now history.Time) {
	m.demand.hold(h).holding = true
	if m.demand.resource(h.Resource).holders++; m.demand.resource(h.Resource).holders == 1 {
		m.outages.Of(h.Resource).taken = now
	}
}

func (m *outageMeter) endHold(h *timeline.Hold, now history.Time) {
	if !m.demand.hold(h).holding {
		return
	}
	r, o := h.Resource, m.outages.Of(h.Resource)
	m.demand.hold(h).holding = false
	if m.demand.resource(r).holders--; m.demand.resource(r).holders == 0 {
		m.held += now.Sub(o.taken)
	}
	m.start(r, o, now)
}

func (m *outageMeter) start(r *timeline.Resource, o *outage, now history.Time) {
	if d := m.demand.resource(r); !o.going && d.holders == 0 && d.triers > 0 {
		o.going, o.since, o.until = true, now, now
	}
}

func (m *outageMeter) stop(r *timeline.Resource, o *outage, now history.Time) {
	if !o.going {
		return
	}
	o.going = false
	m.LongestOutage = max(m.LongestOutage, now.Sub(o.since))
	m.TotalOutage += now.Sub(o.since)
	if m.each != nil {
		m.each(Outage{Resource: r.Name, From: o.since, To: now})
	}
}

// measure ends what is in progress at the end of the history.
func (m *outageMeter) measure(all *Measurements, end history.Time) {
	for _, r := range m.timeline.ResourcesInOrder() {
		o, last := m.outages.Of(r), end
		if m.demand.resource(r).holders > 0 {
			m.held += end.Sub(o.taken)
		}
		if m.demand.resource(r).triers == 0 {
			last = o.until
		}
		m.stop(r, o, last)
	}
	m.Wanted = m.held + m.TotalOutage
	all.Outages = m.Outages
}

// Vacancies is how long a free resource was granted to nobody while a client waited for it, and how often
// clients were refused, without a fault: see [vacancies]. The bounds are [history.Bounds.Free] and
// [history.Bounds.Refusals].
type Vacancies struct {
	LongestFree time.Duration `json:"longest_free" runs:"max"`

	// Refusals counts the tries that were refused although no fault took place, GaveUp those of them that
	// had lasted for longer than the longest TTL. RefusedInRow is the most refusals of a client in a row,
	// between which the resource was granted to others.
	Refusals     int `json:"refusals" runs:"sum"`
	GaveUp       int `json:"gave_up" runs:"sum"`
	RefusedInRow int `json:"refused_in_row" runs:"max"`
}

func (*Vacancies) figures(int) []Figure { return nil }

// vacancyMeter observes nothing itself.
type vacancyMeter struct {
	Vacancies
	free *vacancies
}

func newVacancyMeter(line *timeline.Timeline, d *demand) meter {
	m := &vacancyMeter{}
	m.free = d.shared.readVacancies(line, m)
	return m
}

func (m *vacancyMeter) Wants() timeline.Kinds { return 0 }

func (m *vacancyMeter) Observe(*timeline.Fact) {}

func (m *vacancyMeter) leastVacancy() time.Duration { return m.LongestFree }

func (m *vacancyMeter) vacancy(v vacancy) { m.LongestFree = v.to.Sub(v.from) }

func (m *vacancyMeter) refusal(r Refusal) {
	m.Refusals++
	if r.Waited > m.free.timeline.Header.LongestTTL {
		m.GaveUp++
	}
	m.RefusedInRow = max(m.RefusedInRow, r.InRow)
}

func (m *vacancyMeter) measure(all *Measurements, _ history.Time) {
	m.free.passOpen()
	all.Vacancies = m.Vacancies
}

// Deaths is the deaths of holders and what followed.
type Deaths struct {
	// HolderDeaths counts the clients that died while they held a resource, counted by validity.
	HolderDeaths int `json:"holder_deaths" runs:"sum"`

	// GrantsAfterDeath counts the deaths after which the resource was granted again.
	// NextGrantAfterDeath is the longest time until that grant.
	GrantsAfterDeath    int           `json:"grants_after_death" runs:"sum"`
	NextGrantAfterDeath time.Duration `json:"next_grant_after_death" runs:"max"`
}

func (d *Deaths) figures(int) []Figure {
	if d.HolderDeaths == 0 {
		return nil
	}
	f := Figure{"holder's death", []string{fmt.Sprintf("%d of %d followed by a grant", d.GrantsAfterDeath, d.HolderDeaths)}}
	if d.GrantsAfterDeath > 0 {
		f.Parts = append(f.Parts, "within "+textfmt.Duration(d.NextGrantAfterDeath))
	}
	return []Figure{f}
}

type deathMeter struct {
	Deaths
	mourning timeline.PerResource[mourning]
	demand   *demand
}

// mourning is the holders of a resource that have died since the last grant.
type mourning struct {
	count int
	first history.Time
}

func newDeathMeter(line *timeline.Timeline, d *demand) meter { return &deathMeter{demand: d} }

func (*deathMeter) Wants() timeline.Kinds { return timeline.KindSet(history.Granted, history.Kill) }

func (d *deathMeter) Observe(f *timeline.Fact) {
	if f.Kind == history.Kill {
		for _, h := range f.Actor.Holds {
			if d.demand.hold(h).holding {
				d.mourn(h.Resource, f.Time)
			}
		}
		return
	}
	if m := d.mourning.Of(f.Hold.Resource); m.count > 0 {
		d.GrantsAfterDeath += m.count
		d.NextGrantAfterDeath = max(d.NextGrantAfterDeath, f.Time.Sub(m.first))
		m.count = 0
	}
}

func (d *deathMeter) mourn(r *timeline.Resource, now history.Time) {
	d.HolderDeaths++
	m := d.mourning.Of(r)
	if m.count == 0 {
		m.first = now
	}
	m.count++
}

func (d *deathMeter) measure(m *Measurements, _ history.Time) { m.Deaths = d.Deaths }

// FaultCount counts the faults.
type FaultCount struct {
	Faults int `json:"faults" runs:"sum"` // that took place
}

func (*FaultCount) figures(int) []Figure { return nil }

type faultMeter struct {
	FaultCount
}

func newFaultMeter(*timeline.Timeline, *demand) meter { return &faultMeter{} }

func (*faultMeter) Wants() timeline.Kinds { return timeline.KindSet(history.FaultStart) }

func (m *faultMeter) Observe(*timeline.Fact) { m.Faults++ }

func (m *faultMeter) measure(all *Measurements, _ history.Time) { all.FaultCount = m.FaultCount }
