package rare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// Distance says how far a run is from a violation of lease or section exclusion. It is 0 if and only
// if two windows of different clients overlap. Otherwise it is that of the hold that came closest:
//
//   - Up to a half, the hold lost its quorum while its window was open: so many nodes were up and
//     without its key that a rival could have been granted the lock. The distance grows with the time
//     from the end of the window to the next grant of another client.
//   - From a half to 1 it kept its quorum. The distance grows with the time from the end of the window
//     to the moment at which a rival could have been granted the lock, had the holder not deleted its
//     keys; or, if that is less, with the time by which an extension came early enough.
//
// The times are divided by the longest TTL of the run, and cut off there.
type Distance float64

// far is the distance of a run in which nothing came close.
const far Distance = 1

// closeness is a [timeline.Observer] that computes the distance of a run.
type closeness struct {
	timeline *timeline.Timeline
	grants   int
	windows  map[string][]timeline.Window // by resource
	quorums  map[string]*quorum           // by token
}

// quorum is the nodes that keep a hold, also when the timeline has forgotten it.
type quorum struct {
	client int
	ttl    time.Duration
	expiry map[int]history.Time // of its key on a node, also of one that its holder deleted
	open   history.Time         // when a rival could first have had a quorum
	spare  time.Duration        // by which the latest extension came early enough
}

// checkDistance returns an error if there is no distance to a violation of the property.
func checkDistance(h history.Header, p checker.Property) error {
	switch {
	case p != checker.Lease && p != checker.Section:
		return fmt.Errorf("there is no distance to a violation of %s: only to those of %s and %s", p, checker.Lease, checker.Section)
	case !h.Keys || h.Keepers < 0 || h.Votes != nil:
		return fmt.Errorf("there is no distance for the lock %s: its holds are not majorities of keys on nodes", h.Lock)
	}
	return nil
}

// closenessTo returns an observer of the distance from a violation of the property.
func closenessTo(p checker.Property, t *timeline.Timeline) *closeness {
	c := &closeness{timeline: t, windows: map[string][]timeline.Window{}, quorums: map[string]*quorum{}}
	of := timeline.LeaseWindow
	if p == checker.Section {
		of = timeline.SectionWindow
	}
	t.Windows(of, func(w timeline.Window) {
		if !w.Empty {
			c.windows[w.Grant.Resource] = append(c.windows[w.Grant.Resource], w)
		}
	})
	t.Listen(c)
	return c
}

// keepers is the number of nodes that keep the lock.
func (c *closeness) keepers() int {
	return cmp.Or(c.timeline.Header.Keepers, c.timeline.Header.Nodes)
}

// Wants implements [timeline.Observer].
func (*closeness) Wants() timeline.Kinds {
	return timeline.KindSet(history.Acquire, history.Granted, timeline.Reentered, history.Extend,
		history.KeySet, history.KeyExtended, history.KeyGone, history.NodeDown, history.NodeUp)
}

// Observe implements [timeline.Observer].
func (c *closeness) Observe(f *timeline.Fact) {
	q := c.quorums[f.Token]
	switch f.Kind {
	case history.Granted, timeline.Reentered:
		c.grants++
	case history.Acquire:
		c.quorums[f.Token] = &quorum{client: f.Client, ttl: f.TTL, expiry: map[int]history.Time{}, open: timeline.Forever, spare: math.MaxInt64}
	case history.NodeDown, history.NodeUp:
		for _, q := range c.quorums {
			c.look(q)
		}
	}
	if q == nil {
		return
	}
	switch f.Kind {
	case history.Extend:
		q.ttl = f.TTL
	case history.KeyExtended:
		if left := c.opens(q, f.Time).Sub(f.Time); left > 0 {
			q.spare = min(q.spare, left)
		}
		fallthrough
	case history.KeySet:
		q.expiry[f.Node] = f.Time.Add(q.ttl)
		c.look(q)
	case history.KeyGone:
		if f.Reason != history.Deleted || f.Client != q.client {
			q.expiry[f.Node] = min(q.expiry[f.Node], f.Time)
			c.look(q)
		}
	}
}

// look takes note that a rival could have a quorum now.
func (c *closeness) look(q *quorum) {
	now, granted := c.timeline.Now, len(q.expiry) > c.keepers()/2
	if granted && q.open == timeline.Forever && c.opens(q, now) <= now {
		q.open = now
	}
}

// opens returns when a rival can have a quorum, if nothing happens from now on but that keys expire.
func (c *closeness) opens(q *quorum, now history.Time) history.Time {
	var free []history.Time
	for node := 1; node <= c.keepers(); node++ {
		at := max(q.expiry[node], now) // 0: it has no key
		if c.timeline.Down.Has(node) {
			at = timeline.Forever
		}
		free = append(free, at)
	}
	slices.Sort(free)
	return free[c.keepers()/2]
}

// distance returns the distance of the run, after its end.
func (c *closeness) distance() Distance {
	d := far
	for _, windows := range c.windows {
		for _, w := range windows {
			if q := c.quorums[w.Grant.Token]; q != nil {
				d = min(d, c.of(q, w, windows))
			}
		}
	}
	return d
}

// of returns the distance of a hold from an overlap with another window of its resource.
func (c *closeness) of(q *quorum, w timeline.Window, all []timeline.Window) Distance {
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
	open := q.open
	if open == timeline.Forever {
		open = c.opens(q, w.To)
	}
	if open < w.To {
		return c.share(next, w.To) / 2
	}
	spare := float64(q.spare) / c.unit()
	return 0.5 + min(c.share(open, w.To), Distance(min(spare, 1)))/2
}

// unit is the unit of times: the longest TTL, ns.
func (c *closeness) unit() float64 {
	return float64(max(c.timeline.Header.LongestTTL, time.Millisecond))
}

// share returns the time between two instants, from 0 (excluded) to 1, in units of the longest TTL.
func (c *closeness) share(later, earlier history.Time) Distance {
	if later == timeline.Forever {
		return 1
	}
	return Distance(min((float64(later.Sub(earlier))+1)/c.unit(), 1))
}
