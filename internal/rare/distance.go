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

// observer judges a run, and computes its distance from a violation. It is a [runner.Judge].
type observer struct {
	*checker.Checker
	header  history.Header
	unit    float64 // of time: the longest TTL, ns
	grants  int
	windows map[string][]timeline.Window // by resource
	holds   map[string]*hold             // by token
	away    map[int]bool                 // nodes that are down
}

// hold is the keys of a hold.
type hold struct {
	resource string
	client   int
	ttl      time.Duration
	expiry   map[int]history.Time // of its key on a node, also of one that it deleted itself
	open     history.Time         // when a rival could first have had a quorum
	spare    time.Duration        // by which the latest extension came early enough
}

const never = history.Time(math.MaxInt64)

// newObserver returns an observer of a run. The error says why there is no distance.
func newObserver(h history.Header, p checker.Property) (*observer, error) {
	switch {
	case p != checker.Lease && p != checker.Section:
		return nil, fmt.Errorf("there is no distance to a violation of %s: only to those of %s and %s", p, checker.Lease, checker.Section)
	case !h.Keys || h.Keepers < 0 || h.Votes != nil:
		return nil, fmt.Errorf("there is no distance for the lock %s: its holds are not majorities of keys on nodes", h.Lock)
	}
	line, of := timeline.New(h), timeline.LeaseWindow
	if p == checker.Section {
		of = timeline.SectionWindow
	}
	o := &observer{
		Checker: checker.Of(line, p), header: h, unit: float64(max(h.LongestTTL, time.Millisecond)),
		windows: map[string][]timeline.Window{}, holds: map[string]*hold{}, away: map[int]bool{},
	}
	line.Windows(of, func(w timeline.Window) {
		if !w.Empty {
			o.windows[w.Grant.Resource] = append(o.windows[w.Grant.Resource], w)
		}
	})
	return o, nil
}

// keepers is the number of nodes that keep the lock.
func (o *observer) keepers() int { return cmp.Or(o.header.Keepers, o.header.Nodes) }

// Record implements [history.Sink].
func (o *observer) Record(e *history.Event) {
	o.Checker.Record(e)
	switch e.Kind {
	case history.Granted:
		o.grants++
	case history.Acquire:
		o.holds[e.Token] = &hold{
			resource: e.Resource, client: e.Client, ttl: e.TTL, expiry: map[int]history.Time{}, open: never,
			spare: math.MaxInt64,
		}
	case history.Extend:
		if h := o.holds[e.Token]; h != nil {
			h.ttl = e.TTL
		}
	case history.KeySet, history.KeyExtended:
		if h := o.holds[e.Token]; h != nil {
			o.set(h, e)
		}
	case history.KeyGone:
		if h := o.holds[e.Token]; h != nil && (e.Reason != history.Deleted || e.Client != h.client) {
			h.expiry[e.Node] = min(h.expiry[e.Node], e.Time)
			o.look(h, e.Time)
		}
	case history.NodeDown, history.NodeUp:
		o.away[e.Node] = e.Kind == history.NodeDown
		for _, h := range o.holds {
			o.look(h, e.Time)
		}
	}
}

// set takes note of a key's new expiry.
func (o *observer) set(h *hold, e *history.Event) {
	if e.Kind == history.KeyExtended {
		if left := o.opens(h, e.Time).Sub(e.Time); left > 0 {
			h.spare = min(h.spare, left)
		}
	}
	h.expiry[e.Node] = e.Time.Add(h.ttl)
	o.look(h, e.Time)
}

// look takes note that a rival could have a quorum now.
func (o *observer) look(h *hold, now history.Time) {
	if len(h.expiry) <= o.keepers()/2 { // not granted yet, or never
		return
	}
	if h.open == never && o.opens(h, now) <= now {
		h.open = now
	}
}

// opens returns when a rival can have a quorum, if nothing happens before but that keys expire.
func (o *observer) opens(h *hold, now history.Time) history.Time {
	var free []history.Time
	for node := 1; node <= o.keepers(); node++ {
		at := max(h.expiry[node], now) // 0: it has no key
		if o.away[node] {
			at = never
		}
		free = append(free, at)
	}
	slices.Sort(free)
	return free[o.keepers()/2]
}

// distance returns the distance of the run, after Finish.
func (o *observer) distance() Distance {
	d := far
	for _, windows := range o.windows {
		for i, w := range windows {
			if h := o.holds[w.Grant.Token]; h != nil {
				d = min(d, o.of(h, w, windows[:i], windows[i+1:]))
			}
		}
	}
	return d
}

// of returns the distance of a hold from an overlap with another window of its resource.
func (o *observer) of(h *hold, w timeline.Window, before, after []timeline.Window) Distance {
	next := never
	for _, others := range [][]timeline.Window{before, after} {
		for _, other := range others {
			if other.Grant.Client == w.Grant.Client {
				continue
			}
			if other.From < w.To && w.From < other.To {
				return 0
			}
			if other.From >= w.To {
				next = min(next, other.From)
			}
		}
	}
	open := h.open
	if open == never {
		open = o.opens(h, w.To)
	}
	if open < w.To {
		return o.share(next, w.To) / 2
	}
	return 0.5 + min(o.share(open, w.To), Distance(min(float64(h.spare)/o.unit, 1)))/2
}

// share returns the time between two instants, from 0 (excluded) to 1, in units of the longest TTL.
func (o *observer) share(later, earlier history.Time) Distance {
	if later == never {
		return 1
	}
	return Distance(min((float64(later.Sub(earlier))+1)/o.unit, 1))
}
