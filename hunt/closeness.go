package hunt

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// closeness is a sink that measures how close a run came to violations, which need not
// be exact: judges judge, it only says where to look on.
type closeness struct {
	header history.Header
	plan   nemesis.Plan
	voting history.Electorate

	near     [measures]int64
	features map[feature]bool // what has happened

	resources []*claims
	clients   []user
	now       history.Time
}

// user is what is known of a client.
type user struct {
	called  history.Time
	stood   history.Time // since when it stands still; below 0: it does not
	still   time.Duration
	refused int // tries in a row
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

func newCloseness(h history.Header, p nemesis.Plan) *closeness {
	c := &closeness{
		header: h, plan: p, voting: h.Electorate(), features: map[feature]bool{},
		clients: make([]user, h.Clients+1),
	}
	for m := range c.near {
		c.near[m] = far
	}
	for i := range c.clients {
		c.clients[i].stood = -1
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
	case history.Acquire, history.Extend, history.Release:
		c.called(e)
	case history.Granted, history.Refused, history.Extended, history.ExtendFailed, history.Released:
		c.returned(e)
	case history.Lapse, history.Lost:
		c.ran(e)
	case history.Apply:
		c.applied(e)
	case history.Pause, history.Resume, history.Kill:
		c.moved(e)
	case history.EntryGone:
		c.entryGone(e)
	case history.End:
		c.finish()
	}
	c.note(e)
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
	u := &c.clients[e.Client]
	u.called, u.still = e.Time, 0
	r := c.of(e.Resource)
	switch e.Kind {
	case history.Acquire:
		r.tries = slices.DeleteFunc(r.tries, func(t *claim) bool { return t.over && t.keys == 0 })
		r.tries = append(r.tries, &claim{client: e.Client, token: e.Token, since: e.Time})
	case history.Release:
		if t := r.find(e.Token); t != nil {
			c.close(r, t)
			if t.granted > 0 {
				c.came(overstay, max(0, int64(c.left(t))))
			}
			t.stale = false
		}
	}
}

func (c *closeness) returned(e *history.Event) {
	u := &c.clients[e.Client]
	took := e.Time.Sub(u.called) - u.still
	b := c.header.Bounds
	r := c.of(e.Resource)
	t := r.find(e.Token)
	switch e.Kind {
	case history.Granted, history.Refused:
		c.neared(call, b.Acquire, took)
	case history.Released:
		c.neared(call, b.Release, took)
	default:
		c.neared(call, b.Extend, took)
	}
	if t == nil {
		return
	}
	switch e.Kind {
	case history.Granted:
		u.refused = 0
		c.granted(r, t, e)
	case history.Refused:
		if !r.held() {
			u.refused++
			c.came(refusals, int64(max(0, b.Tries-u.refused)))
		}
		t.over, t.ended = true, e.Time
	case history.Released:
		t.over, t.ended = true, e.Time
	}
}

// neared measures how near a duration came to its bound.
func (c *closeness) neared(m measure, bound, took time.Duration) {
	if bound > 0 {
		c.came(m, int64(max(0, bound-took)))
	}
}

func (r *claims) held() bool {
	return slices.ContainsFunc(r.tries, func(t *claim) bool { return t.holds })
}

// left is how much of the TTL of a claim has not passed yet.
func (c *closeness) left(t *claim) time.Duration { return c.header.LongestTTL - c.now.Sub(t.since) }

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

func (c *closeness) applied(e *history.Event) {
	r := c.of(e.Resource)
	t := r.find(e.Token)
	if t == nil || t.granted == 0 {
		return
	}
	c.came(lateWrite, max(0, int64(c.left(t))))
}

func (c *closeness) moved(e *history.Event) {
	u := &c.clients[e.Client]
	switch {
	case e.Kind == history.Pause:
		u.stood = e.Time
	case u.stood >= 0:
		u.still += e.Time.Sub(u.stood)
		u.stood = -1
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

// timeBits is where a count stands above a time in a measure that goes by both.
const timeBits = 50

// early is less the earlier it is in a hold: what has the rest of it to come to
// something is closer than what comes at its end.
func (c *closeness) early(t *claim) int64 {
	return min(max(0, int64(c.now.Sub(t.granted))), 1<<timeBits-1)
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
