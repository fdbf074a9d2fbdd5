package checker

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// Waits is how long clients tried. A series is the consecutive tries of one client for one
// resource:
// from the first call to the grant; or without a grant to the last return, or, if a try is in
// progress, to the client's death or the history's end. A series ends with a grant, or when no try
// was in progress for longer than the longest TTL.
type Waits struct {
	LongestWait    time.Duration `json:"longest_wait" runs:"max"`     // the longest row
	MostPassedOver int           `json:"most_passed_over" runs:"max"` // the most grants to others during one
}

func (w *Waits) figures(int) []Figure {
	if w.LongestWait == 0 {
		return nil
	}
	passedOver := "passed over by nobody"
	if w.MostPassedOver > 0 {
		passedOver = "passed over by up to " + textfmt.Count(w.MostPassedOver, "grant")
	}
	return []Figure{{"longest wait", []string{textfmt.Duration(w.LongestWait), passedOver}}}
}

type waitMeter struct {
	Waits
	timeline *timeline.Timeline
	ttl      time.Duration // the longest
	grants   timeline.PerResource[int32]
	demand   *demand

	each func(Wait) // nil: nobody wants to be told
}

func newWaitMeter(line *timeline.Timeline, d *demand) meter {
	return &waitMeter{timeline: line, ttl: line.Header.LongestTTL, demand: d}
}

func (*waitMeter) Wants() timeline.Kinds {
	return timeline.KindSet(history.Acquire, history.Granted, timeline.Reentered, history.Refused, history.Kill)
}

func (w *waitMeter) Observe(f *timeline.Fact) {
	switch h := f.Hold; {
	case f.Kind == history.Kill:
		w.endRows(f.Actor, f.Time)
	case h == nil:
	case f.Kind == history.Acquire:
		w.goOn(h, f.Time)
	case f.Kind == history.Granted:
		w.granted(h, f.Time)
		*w.grants.Of(h.Resource)++
	case f.Kind == timeline.Reentered:
		w.granted(f.Try, f.Time)
	case f.Kind == history.Refused:
		w.giveUp(h, f.Time)
	}
}

// goOn continues a series, or ends it if the last try was too long ago.
func (w *waitMeter) goOn(h *timeline.Hold, now history.Time) {
	if h.Client.Dead {
		return
	}
	w.demand.hold(h).before = *w.grants.Of(h.Resource)
	if row := w.demand.row(h.Client, h.Resource); row != nil && now.Sub(row.last) > w.ttl && !w.demand.alongside(h) {
		w.gaveUp(h.Client, row)
		w.demand.endRow(h.Client, h.Resource)
	}
}

// granted ends a series with a grant.
func (w *waitMeter) granted(try *timeline.Hold, now history.Time) {
	w.waited(try, now)
	w.tell(try, Wait{To: now, Granted: true})
	w.demand.endRow(try.Client, try.Resource)
}

// giveUp ends a try without a grant.
func (w *waitMeter) giveUp(h *timeline.Hold, now history.Time) {
	w.waited(h, now)
	r := w.demand.row(h.Client, h.Resource)
	if r == nil {
		rows := w.demand.rows.Of(h.Client)
		*rows = append(*rows, row{resource: h.Resource, since: h.Acquire.At, grants: w.demand.hold(h).before})
		r = &(*rows)[len(*rows)-1]
	}
	r.last = now
	r.tries++
}

// endRows ends the series of a client when it dies or the history ends.
func (w *waitMeter) endRows(c *timeline.Client, now history.Time) {
	for _, h := range c.Holds {
		if w.demand.hold(h).trying {
			w.waited(h, now)
			w.tell(h, Wait{To: now, Open: !c.Dead})
			w.demand.endRow(c, h.Resource)
		}
	}
	rows := w.demand.rows.Of(c)
	for i := range *rows {
		w.gaveUp(c, &(*rows)[i])
	}
	*rows = nil
}

// waited measures the series of a try up to now.
func (w *waitMeter) waited(h *timeline.Hold, now history.Time) {
	since, grants := h.Acquire.At, w.demand.hold(h).before
	if row := w.demand.row(h.Client, h.Resource); row != nil {
		since, grants = row.since, row.grants
	}
	w.LongestWait = max(w.LongestWait, now.Sub(since))
	w.MostPassedOver = max(w.MostPassedOver, int(*w.grants.Of(h.Resource)-grants))
}

func (w *waitMeter) measure(m *Measurements, end history.Time) {
	for _, c := range w.timeline.Clients {
		w.endRows(c, end)
	}
	m.Waits = w.Waits
}

// Acquiring is the time from call to return of granted tries. The quantiles are upper bounds, at
// most 1/32 too high; for many runs they are the medians of the runs with a grant.
type Acquiring struct {
	AcquireP50  time.Duration `json:"acquire_p50" runs:"median>0 AcquireP50"`
	AcquireP99  time.Duration `json:"acquire_p99" runs:"median>0 AcquireP99"`
	AcquireP999 time.Duration `json:"acquire_p999" runs:"median>0 AcquireP999"`
	AcquireMax  time.Duration `json:"acquire_max" runs:"max"`
}

func (a *Acquiring) figures(int) []Figure {
	if a.AcquireMax == 0 {
		return nil
	}
	return []Figure{{"time to acquire", []string{
		"p50 " + textfmt.Duration(a.AcquireP50), "p99 " + textfmt.Duration(a.AcquireP99),
		"p99.9 " + textfmt.Duration(a.AcquireP999), "longest " + textfmt.Duration(a.AcquireMax),
	}}}
}

func (a *Acquiring) columns(*Measurements) []Column {
	const legend = "acquire p50, p99: the time of tries that got the lock"
	return []Column{{"acquire p50", textfmt.Duration(a.AcquireP50), legend}, {"acquire p99", textfmt.Duration(a.AcquireP99), legend}}
}

type acquiringMeter struct {
	took histogram
}

func newAcquiringMeter(*timeline.Timeline, *demand) meter { return &acquiringMeter{} }

func (*acquiringMeter) Wants() timeline.Kinds {
	return timeline.KindSet(history.Granted, timeline.Reentered)
}

func (a *acquiringMeter) Observe(f *timeline.Fact) { a.took.add(f.Time.Sub(f.Call.At)) }

func (a *acquiringMeter) measure(m *Measurements, _ history.Time) {
	m.Acquiring = Acquiring{a.took.quantile(500), a.took.quantile(990), a.took.quantile(999), a.took.longest}
}

// Queues is how clients that waited in a queue were woken.
type Queues struct {
	Woken int `json:"woken" runs:"sum"` // how often
	Herd  int `json:"herd" runs:"max"`  // the most tries that were woken between two grants of a resource
}

func (q *Queues) figures(int) []Figure {
	if q.Woken == 0 {
		return nil
	}
	return []Figure{{"woken", []string{
		textfmt.Count(q.Woken, "time"), fmt.Sprintf("at most %s between two grants", textfmt.Count(q.Herd, "client")),
	}}}
}

func (q *Queues) columns(m *Measurements) []Column {
	cell := "–"
	if q.Woken > 0 {
		cell = textfmt.Each(q.Woken, m.Grants)
	}
	return []Column{{"woken per grant", cell, "woken: clients that waited in a queue and were woken"}}
}

type queueMeter struct {
	Queues
	herds  timeline.PerResource[herd]
	demand *demand
}

// herd is the clients that were woken since a resource was last granted.
type herd struct {
	grants int32
	tries  int
}

func newQueueMeter(line *timeline.Timeline, d *demand) meter { return &queueMeter{demand: d} }

func (*queueMeter) Wants() timeline.Kinds { return timeline.KindSet(history.Granted, history.Step) }

func (m *queueMeter) Observe(f *timeline.Fact) {
	switch {
	case f.Kind == history.Granted:
		r := m.herds.Of(f.Hold.Resource)
		r.grants++
		r.tries = 0
	case f.Name == history.Woken:
		m.Woken++
		if f.Hold != nil {
			m.wake(f.Hold)
		}
	}
}

func (m *queueMeter) wake(h *timeline.Hold) {
	r, u := m.herds.Of(h.Resource), m.demand.hold(h)
	if u.woken == r.grants+1 {
		return // once more
	}
	u.woken = r.grants + 1
	r.tries++
	m.Herd = max(m.Herd, r.tries)
}

func (m *queueMeter) measure(all *Measurements, _ history.Time) { all.Queues = m.Queues }

// Rounds is how clients that tried at the same time reached a grant. A round is tries for a
// resource that nobody holds, each called while another one is in progress. It ends when one of
// them is granted, or when none is in progress any more: the round was split if two or more took
// part.
type Rounds struct {
	SplitRounds int `json:"split_rounds" runs:"sum"`

	// RoundsToFirstGrant is the number of the try with which the first client was granted a
	// resource: the maximum over the resources, 0 without a grant.
	RoundsToFirstGrant int `json:"rounds_to_first_grant" runs:"max"`

	// MedianRounds, for many runs, is the median of the runs with a grant.
	MedianRounds int `json:"median_rounds,omitempty" runs:"median>0 RoundsToFirstGrant"`
}

func (r *Rounds) figures(runs int) []Figure {
	if r.SplitRounds == 0 {
		return nil
	}
	f := Figure{"split votes", []string{fmt.Sprint(r.SplitRounds)}}
	if r.RoundsToFirstGrant > 0 {
		f.Parts = append(f.Parts, fmt.Sprintf("first grant with try %d at the latest", r.RoundsToFirstGrant))
		if runs > 1 {
			f.Parts = append(f.Parts, fmt.Sprintf("median of runs %d", r.MedianRounds))
		}
	}
	return []Figure{f}
}

type roundMeter struct {
	Rounds
	rounds timeline.PerResource[round]
	demand *demand
}

// round is the tries that compete for a resource that nobody holds.
type round struct {
	number  int32 // of the present round, from 1
	open    int   // tries under way; 0: there is no round
	members int
	granted bool // the resource was granted at some time
}

func newRoundMeter(line *timeline.Timeline, d *demand) meter { return &roundMeter{demand: d} }

func (*roundMeter) Wants() timeline.Kinds {
	return timeline.KindSet(history.Acquire, history.Granted, timeline.Reentered, history.Refused, history.Kill)
}

func (m *roundMeter) Observe(f *timeline.Fact) {
	switch h := f.Hold; {
	case f.Kind == history.Kill:
		for _, h := range f.Actor.Holds {
			if m.demand.hold(h).trying {
				m.leave(h)
			}
		}
	case h == nil:
	case f.Kind == history.Acquire:
		m.join(h)
	case f.Kind == history.Granted:
		m.succeed(h)
	case f.Kind == timeline.Reentered:
		m.leave(f.Try)
	case f.Kind == history.Refused:
		m.leave(h)
	}
}

// join adds a try to the current round, or begins a round.
func (m *roundMeter) join(h *timeline.Hold) {
	if h.Client.Dead || m.demand.resource(h.Resource).holders > 0 {
		return
	}
	r := m.rounds.Of(h.Resource)
	if r.open == 0 {
		r.number++
		r.members = 0
	}
	r.open++
	r.members++
	m.demand.hold(h).joined = r.number
}

// leave ends a try that was not granted, and with the last one the round.
func (m *roundMeter) leave(h *timeline.Hold) {
	r, u := m.rounds.Of(h.Resource), m.demand.hold(h)
	if r.open == 0 || u.joined != r.number {
		return
	}
	u.joined = 0
	if r.open--; r.open == 0 && r.members > 1 {
		m.SplitRounds++
	}
}

// succeed ends the current round with a grant.
func (m *roundMeter) succeed(h *timeline.Hold) {
	r := m.rounds.Of(h.Resource)
	r.open = 0
	if r.granted {
		return
	}
	r.granted = true
	tries := 1
	if row := m.demand.row(h.Client, h.Resource); row != nil {
		tries += row.tries
	}
	m.RoundsToFirstGrant = max(m.RoundsToFirstGrant, tries)
}

func (m *roundMeter) measure(all *Measurements, _ history.Time) { all.Rounds = m.Rounds }

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

// tell reports the series of a try, which ends as v says.
func (w *waitMeter) tell(try *timeline.Hold, v Wait) {
	if w.each == nil {
		return
	}
	v.Client, v.Resource, v.From, v.Tries = try.Client.Number, try.Resource.Name, try.Acquire.At, 1
	if row := w.demand.row(try.Client, try.Resource); row != nil {
		v.From, v.Tries = row.since, row.tries+1
	}
	w.each(v)
}

// gaveUp reports a series that ended with a refusal.
func (w *waitMeter) gaveUp(c *timeline.Client, r *row) {
	if w.each != nil {
		w.each(Wait{Client: c.Number, Resource: r.resource.Name, From: r.since, To: r.last, Tries: r.tries})
	}
}
