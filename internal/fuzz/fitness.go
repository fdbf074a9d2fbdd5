package fuzz

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// measure is one of the ways in which a run can come close to a violation. Each has a
// scale of its own, on which less is closer.
type measure int

const (
	rivalVotes measure = iota // how many votes another token lacked of a quorum, while somebody held the lock
	ownVotes                  // how many votes a holder was left with
	gap                       // from the end of a hold that was not released to the next grant
	remaining                 // that was left at a grant
	leftKey                   // how much was left of the bound for keys of what was given up
	waiting                   // how much was left of the bound until somebody is granted a free lock
	measures
)

// guides says which measures tell something of which properties, and which are times that
// are compared by their shares of the TTL; the others are shares already, or counts. What
// else was tried led nowhere that is not found sooner by drawing anew: docs/evidence/hunt.md.
var guides = [measures]struct {
	timed bool
	to    []checker.Property
}{
	rivalVotes: {false, []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Fence, checker.Contract}},
	ownVotes:   {false, []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Fence, checker.Contract}},
	gap:        {true, []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Fence}},
	remaining:  {true, []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Contract}},
	leftKey:    {false, []checker.Property{checker.Cleanup, checker.DeadlockFreedom}},
	waiting:    {false, []checker.Property{checker.DeadlockFreedom}},
}

// far is what nothing was measured of.
const far = math.MaxInt64

// closeness is a sink that measures how close a run came to violations, which need not
// be exact: judges judge, it only says where to look on.
type closeness struct {
	header history.Header
	voting history.Electorate

	near [measures]int64

	resources []*claims
	now       history.Time
}

// claims are the tries and holds of one resource that are not over, or have keys left.
type claims struct {
	resource string
	tries    []*claim
	free     history.Time // since when nobody holds it
}

// claim is a try to acquire, and the hold that it brings.
type claim struct {
	client  int
	token   string
	since   history.Time // the call of acquire
	granted history.Time
	ended   history.Time // of the window, if it is not open
	keys    uint64       // the nodes that have one, as in [history.Electorate]
	fresh   uint64       // those set since somebody else has held the lock

	holds bool // granted, and relied on
	stale bool // granted, and not released though its validity is over
	over  bool // refused or released
}

func newCloseness(h history.Header) *closeness {
	c := &closeness{header: h, voting: h.Electorate()}
	for m := range c.near {
		c.near[m] = far
	}
	return c
}

// came takes note that the run came so close.
func (c *closeness) came(m measure, distance int64) { c.near[m] = min(c.near[m], distance) }

// Record implements [history.Sink].
func (c *closeness) Record(e *history.Event) {
	if e.Kind == history.Step {
		return
	}
	c.now = e.Time
	switch e.Kind {
	case history.KeySet, history.KeyGone:
		c.keyChanged(e)
	case history.Acquire, history.Release:
		c.called(e)
	case history.Granted, history.Refused, history.Released:
		c.returned(e)
	case history.Lapse, history.Lost:
		c.ran(e)
	case history.EntryGone:
		c.entryGone(e)
	case history.End:
		c.finish()
	}
}

func (c *closeness) of(resource string) *claims {
	for _, r := range c.resources {
		if r.resource == resource {
			return r
		}
	}
	r := &claims{resource: resource}
	c.resources = append(c.resources, r)
	return r
}

// find returns the latest claim with a token.
func (r *claims) find(token string) *claim {
	for i := len(r.tries) - 1; i >= 0; i-- {
		if r.tries[i].token == token {
			return r.tries[i]
		}
	}
	return nil
}

func (c *closeness) called(e *history.Event) {
	r := c.of(e.Resource)
	switch e.Kind {
	case history.Acquire:
		r.tries = slices.DeleteFunc(r.tries, func(t *claim) bool { return t.over && t.keys == 0 })
		r.tries = append(r.tries, &claim{client: e.Client, token: e.Token, since: e.Time})
	case history.Release:
		if t := r.find(e.Token); t != nil {
			c.close(r, t)
			t.stale = false
		}
	}
}

func (c *closeness) returned(e *history.Event) {
	r := c.of(e.Resource)
	t := r.find(e.Token)
	switch {
	case t == nil:
	case e.Kind == history.Granted:
		c.granted(r, t, e)
	default:
		t.over, t.ended = true, e.Time
	}
}

// neared measures how near a duration came to its bound.
func (c *closeness) neared(m measure, bound, took time.Duration) {
	if bound > 0 {
		c.came(m, share(max(0, bound-took), bound))
	}
}

// share is how much of a whole a part is, in parts per million: what times of scenarios
// that differ are compared by.
func share(part, whole time.Duration) int64 { return int64(part / max(whole/million, 1)) }

const million = 1_000_000

func (r *claims) held() bool {
	return slices.ContainsFunc(r.tries, func(t *claim) bool { return t.holds })
}

func (c *closeness) granted(r *claims, t *claim, e *history.Event) {
	if e.Validity > 0 {
		c.came(remaining, int64(e.Validity))
	}
	for _, other := range r.tries {
		switch {
		case other == t || other.client == t.client:
		case other.stale:
			c.came(gap, int64(e.Time.Sub(other.ended)))
		}
	}
	if !r.held() {
		c.neared(waiting, c.header.Bounds.Grant, e.Time.Sub(max(r.free, t.since)))
	}
	t.holds, t.granted = true, e.Time
	for _, other := range r.tries {
		if other != t {
			other.fresh = 0
		}
	}
	c.tally(r)
}

// close ends the window of a hold.
func (c *closeness) close(r *claims, t *claim) {
	if t.holds {
		t.holds, t.ended, r.free = false, c.now, c.now
	}
}

// ran is a hold whose validity is over, or that is lost.
func (c *closeness) ran(e *history.Event) {
	r := c.of(e.Resource)
	if t := r.find(e.Token); t != nil && t.holds {
		c.close(r, t)
		t.stale = true
	}
}

func (c *closeness) keyChanged(e *history.Event) {
	r := c.of(e.Resource)
	t := r.find(e.Token)
	if t == nil {
		return
	}
	node := uint64(1) << (e.Node - 1)
	if e.Kind == history.KeySet {
		t.keys |= node
		if r.held() {
			t.fresh |= node
		}
	} else {
		t.keys &^= node
		t.fresh &^= node
		c.leaves(t)
	}
	c.tally(r)
}

// leaves measures for how long a token that was given up has had keys.
func (c *closeness) leaves(t *claim) {
	if t.over {
		c.neared(leftKey, c.header.Bounds.Cleanup, c.now.Sub(t.ended))
	}
}

// entryGone is a store that forgets the entry of a holder.
func (c *closeness) entryGone(e *history.Event) {
	if t := c.of(e.Resource).find(e.Token); t != nil && t.holds {
		c.came(ownVotes, c.early(t))
	}
}

// tally counts the votes while somebody holds a resource.
func (c *closeness) tally(r *claims) {
	for _, holder := range r.tries {
		if !holder.holds {
			continue
		}
		if !c.voting.None() {
			c.came(ownVotes, int64(c.voting.Count(holder.keys))<<timeBits+c.early(holder))
		}
		for _, t := range r.tries {
			if t != holder && t.fresh != 0 && !t.over {
				lacks := max(0, c.voting.Needed()-c.voting.Count(t.keys))
				c.came(rivalVotes, int64(lacks)<<timeBits+c.early(holder))
			}
		}
	}
}

// timeBits is where a count stands above a share of the TTL in a measure that goes by both.
const timeBits = 50

// early is less the earlier it is in a hold: what has the rest of it to come to
// something is closer than what comes at its end.
func (c *closeness) early(t *claim) int64 {
	return min(share(max(0, c.now.Sub(t.granted)), c.header.LongestTTL), 1<<timeBits-1)
}

// distance is how close the run came, on a scale that scenarios of other times have too.
func (c *closeness) distance(m measure) int64 {
	d := c.near[m]
	if d < far && guides[m].timed {
		d = share(time.Duration(d), c.header.LongestTTL)
	}
	return d
}

func (c *closeness) finish() {
	for _, r := range c.resources {
		trying := false
		for _, t := range r.tries {
			if t.keys != 0 {
				c.leaves(t)
			}
			trying = trying || t.granted == 0 && !t.over
		}
		if trying && !r.held() {
			c.neared(waiting, c.header.Bounds.Grant, c.now.Sub(r.free))
		}
	}
}

// Near is how close runs came to granting a lock twice, in what people can follow of
// what guides a hunt. The zero value says that nothing was measured.
type Near struct {
	votes, gap, validity distance
}

// distance is how far something was from a violation: one more than that, so that 0 is
// nothing measured.
type distance int64

// told tells of one run.
func (c *closeness) told() (n Near) {
	for _, one := range []struct {
		to      *distance
		measure measure
		unit    int64
	}{{&n.votes, rivalVotes, 1 << timeBits}, {&n.gap, gap, 1}, {&n.validity, remaining, 1}} {
		if d := c.near[one.measure]; d < far {
			*one.to = distance(max(d/one.unit, 0) + 1)
		}
	}
	return n
}

// closer is the closer one of both, each way by itself.
func (n Near) closer(than Near) Near {
	return Near{n.votes.closer(than.votes), n.gap.closer(than.gap), n.validity.closer(than.validity)}
}

func (d distance) closer(than distance) distance {
	if d == 0 || than != 0 && than < d {
		return than
	}
	return d
}

// String tells it as in "1 vote short, 3ms apart, validity 5ms": votes that a
// second holder lacked, the time between two holds, the least validity at a grant; empty: nothing
// was measured.
func (n Near) String() string {
	var parts []string
	if n.votes > 0 {
		parts = append(parts, textfmt.Count(int(n.votes-1), "vote")+" short")
	}
	if n.gap > 0 {
		parts = append(parts, fmt.Sprintf("%s apart", textfmt.Duration(time.Duration(n.gap-1))))
	}
	if n.validity > 0 {
		parts = append(parts, fmt.Sprintf("validity %s", textfmt.Duration(time.Duration(n.validity-1))))
	}
	return strings.Join(parts, ", ")
}
