package rare

import (
	"fmt"
	"math"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// Distance says how far a run is from a violation of a property: 0 if and only if the run violates it. Otherwise it is
// that of the hold that came closest, by the margin of its backing in its window, from a to e. The margin is a pair:
//
//	nodes = min over t of votes(t) - quorum, each t in (a, e) at which the hold loses a node that backed it
//	time  = min over t of B(t-) - t,         t = e and each t in (a, e) at which B grows
//
// votes(t) are those of the nodes that back the hold; if it loses none, nodes is the largest number there can be, n. B(t)
// is the instant until which a quorum backs it as of t, if its keys go only when their time to live is over and no node
// goes down or returns ([timeline.Hold.PlannedUntil]). So time is what was left when an extension prolonged the backing,
// or when the hold ended and needed it no longer. A hold that lost its backing has the margin (0, 0). For backing, the
// end on which the holder relies counts, too: for each return of the grant or of an extension at t, with the end u by
// the holder's clock, B(t) - u.
//
// Margins are ordered by nodes, then by time: a node that is lost brings an unbacked hold nearer although B stays, as
// long as a quorum is left. With times in units of the longest TTL of the run, at most 1, the distance is
//
//	backing:                     m = (nodes + time) / (n + 1)
//	lease and section exclusion: (1 + m) / 2               if the hold kept its backing
//	                             (next grant - e) / 2      if it did not
//
// where the next grant is that of another client.
type Distance float64

// far is the distance of a run in which nothing came close.
const far Distance = 1

// margins is a [timeline.Settler] that follows the backing of holds, and so computes the distance of a run.
type margins struct {
	timeline *timeline.Timeline
	property checker.Property
	window   timeline.WindowKind
	quorum   timeline.Electorate
	most     int // votes beyond a quorum

	grants  int
	windows map[string][]timeline.Window // by resource
	holds   map[string]*backed           // by token, also when the timeline has forgotten the hold

	changed []*timeline.Hold // in this instant, whose keys have not changed
	every   bool             // each hold may be concerned
}

// backed is the backing of a hold.
type backed struct {
	until  history.Time  // B, as of the last instant
	votes  int           // of the nodes that back it, as of the last instant
	began  bool          // its window has begun
	spare  int           // the margin in nodes, so far
	margin time.Duration // the margin in time, so far; math.MaxInt64: nothing has tested it
}

// checkDistance returns an error if there is no distance to a violation of the property.
func checkDistance(h history.Header, p checker.Property) error {
	switch {
	case p != checker.Backing && p != checker.Lease && p != checker.Section:
		return fmt.Errorf("there is no distance to a violation of %s: only to those of %s, %s and %s", p, checker.Backing, checker.Lease, checker.Section)
	case !h.Keys || timeline.ElectorateOf(h).None():
		return fmt.Errorf("there is no distance for the lock %s: its holds are not quorums of keys on nodes", h.Lock)
	}
	return nil
}

// marginsFor returns an observer of the distance from a violation of the property.
func marginsFor(p checker.Property, t *timeline.Timeline) *margins {
	m := &margins{timeline: t, property: p, quorum: timeline.ElectorateOf(t.Header), windows: map[string][]timeline.Window{}, holds: map[string]*backed{}}
	m.most = m.quorum.All - m.quorum.Needed()
	if p == checker.Section {
		m.window = timeline.SectionWindow
	}
	t.Windows(m.window, func(w timeline.Window) {
		if !w.Empty {
			m.windows[w.Grant.Resource] = append(m.windows[w.Grant.Resource], w)
		}
	})
	t.Listen(m)
	return m
}

// Wants implements [timeline.Observer].
func (*margins) Wants() timeline.Kinds {
	return timeline.KindSet(history.Granted, timeline.Reentered, history.Extended, history.Release, history.Lost, history.Lapse, history.Expiring,
		history.KeySet, history.KeyExtended, history.KeyGone, history.NodeDown, history.NodeUp)
}

// Observe implements [timeline.Observer].
func (m *margins) Observe(f *timeline.Fact) {
	switch f.Kind {
	case history.Granted, timeline.Reentered:
		m.grants++
		m.every = true // a vote may be taken from another hold
	case history.NodeDown, history.NodeUp:
		m.every = true
	}
	if f.Hold != nil {
		m.changed = append(m.changed, f.Hold)
	}
}

// Settle implements [timeline.Settler].
func (m *margins) Settle() {
	m.timeline.Divide(m.changed)
	for i := range m.timeline.Changes {
		if h := m.timeline.Changes[i].Hold; h != nil {
			m.look(h)
		}
	}
	for _, h := range m.changed {
		m.look(h)
	}
	if m.every {
		for _, c := range m.timeline.Clients {
			for _, h := range c.Holds {
				m.look(h)
			}
		}
	}
	m.changed, m.every = m.changed[:0], false
}

// look follows B and the window of a hold.
func (m *margins) look(h *timeline.Hold) {
	b := m.holds[h.Token]
	if b == nil {
		b = &backed{spare: m.most, margin: math.MaxInt64}
		m.holds[h.Token] = b
	}
	now, w := m.timeline.Now, &h.Windows[m.window]
	before, votes := b.until, b.votes
	b.until, b.votes = h.PlannedUntil(m.quorum), m.quorum.Count(uint64(h.Backers(now+1)))
	switch {
	case w.Over && b.began:
		b.began = false // until a late extension begins another
		b.tested(before, w.End)
		return
	case !w.Begun || w.Over:
		return
	case b.began && b.until > before:
		b.tested(before, now)
	}
	if b.began && b.votes < votes {
		b.spare = min(b.spare, max(b.votes-m.quorum.Needed(), 0))
	}
	b.began = true
	if b.until <= now {
		b.tested(now, now)
	}
	if last, _ := h.Promised(); m.property == checker.Backing && last.At == now && last.Ends != 0 {
		b.tested(b.until, last.Ends)
	}
}

// tested notes that a hold which a quorum was to back until an instant needed that until another one.
func (b *backed) tested(until, needed history.Time) {
	b.margin = min(b.margin, max(until, needed).Sub(needed)) // until may be long ago
}

// distance returns the distance of the run, after its end.
func (m *margins) distance() Distance {
	d := far
	for _, windows := range m.windows {
		for _, w := range windows {
			if b := m.holds[w.Grant.Token]; b != nil {
				d = min(d, m.of(b, w, windows))
			}
		}
	}
	return d
}

// of returns the distance of a hold from a violation, given the windows of its resource.
func (m *margins) of(b *backed, w timeline.Window, all []timeline.Window) Distance {
	margin := b.margin
	if b.began { // its window ended with the run
		margin = min(margin, max(b.until, w.To).Sub(w.To))
	}
	kept := Distance(0)
	if margin > 0 {
		kept = (Distance(b.spare) + m.share(margin)) / Distance(1+m.most)
	}
	if m.property == checker.Backing {
		return kept
	}
	next := timeline.Forever
	for _, other := range all {
		switch {
		case other.Grant.Client == w.Grant.Client:
		case other.From >= w.To:
			next = min(next, other.From)
		case w.From < other.To:
			return 0
		}
	}
	if kept > 0 {
		return (1 + kept) / 2
	}
	return m.share(next.Sub(w.To)+1) / 2
}

// share returns a time, in units of the longest TTL, at most 1.
func (m *margins) share(d time.Duration) Distance {
	return Distance(min(float64(d)/float64(max(m.timeline.Header.LongestTTL, time.Millisecond)), 1))
}
