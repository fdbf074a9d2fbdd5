package checker

import (
	"github.com/lockstorm/lockstorm/internal/timeline"

	"time"

	"github.com/lockstorm/lockstorm/history"
)

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

// Demand calls waits for every series of tries and outages for every outage when it ends; Finish
// ends those in progress. Call it before the first event. A checker of selected properties then
// takes these two measurements and no others.
func (p *Checker) Demand(waits func(Wait), outages func(Outage)) {
	p.byOneClock()
	if len(p.meters) == 0 {
		d := &demand{}
		for _, newMeter := range []func(*timeline.Timeline, *demand) meter{newWaitMeter, newOutageMeter} {
			m := newMeter(p.state, d)
			p.meters = append(p.meters, m)
			p.state.Listen(m)
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

// waiting is the wait of clients for one resource.
type waiting struct {
	since history.Time // when the first of consecutive tries began, or the last grant
	tried history.Time // when a try last began or was refused
	ever  bool         // there was a try
	freed history.Time // when the last hold ended
	quiet history.Time // when something last began or ended that can keep its clients waiting, but no others
	clear history.Time // when the last old key expired late, by a slow clock
	open  int          // tries that have not returned
	owed  bool         // nobody has been granted the resource since a try was refused
	long  bool         // the wait has been found too long
	kept  []keptKey    // keys on the nodes

	ends     []tryEnd     // how tries ended since the last grant
	outlived *outlivedTry // the last refused try that took longer than its TTL
}

// longWait is a wait that was too long.
type longWait struct {
	resource *timeline.Resource
	at       history.Time
	start    history.Time // when the wait began
	links    []cutLinks   // that excuse it when they are up again
	faults   []int        // that excuse it when they end
	told     Finding
}

// start is when the present wait began.
func (p *progress) start(w *waiting) history.Time { return max(p.disturbed(w), w.since, w.freed) }

// disturbed is when something last began or ended that can keep clients waiting for the resource.
func (p *progress) disturbed(w *waiting) history.Time { return max(p.quiet, p.excuses.hidden, w.quiet) }

// of returns the wait for a resource.
func (p *progress) of(r *timeline.Resource) *waiting { return p.waiting.Of(r) }

func (p *progress) wait(h *timeline.Hold) {
	if !h.Client.Dead {
		*p.waits.Of(h) = true
		p.of(h.Resource).open++
	}
}

func (p *progress) stopWaiting(h *timeline.Hold) {
	if waits := p.waits.Of(h); *waits {
		*waits = false
		p.of(h.Resource).open--
	}
}

// due is the instant by which some client has to be granted the resource.
func (p *progress) due(w *waiting) history.Time {
	return max(p.start(w).Add(p.ttl), w.clear).Add(p.bound)
}

// held reports whether a client holds the resource since before now, other than by one hold.
// A hold that nothing can end does not count.
func heldBy(r *timeline.Resource, but *timeline.Hold, now history.Time) bool {
	for _, h := range r.Holds {
		if h != but && h.Leased() && h.Windows[timeline.LeaseWindow].From < now && !h.Orphaned() {
			return true
		}
	}
	return false
}

// call begins a try. If there was none for the bound, a new wait begins with it.
func (w *waiting) call(now history.Time, bound time.Duration) {
	if w.open == 0 && (now.Sub(w.tried) > bound || !w.ever) {
		w.since = now
	}
	w.tried, w.ever = now, true
}
