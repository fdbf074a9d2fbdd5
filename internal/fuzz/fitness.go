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

// measure is a way in which a run can come close to a violation. Each has its own scale, on
// which less is closer.
type measure int

const (
	rivalVotes measure = iota // votes that another token lacked to a quorum while somebody held the lock
	ownVotes                  // votes that a holder was left with
	gap                       // from the end of a hold that was not released to the next grant
	remaining                 // validity left at a grant
	leftKey                   // time left of the bound for keys of an abandoned token
	waiting                   // time left of the bound until a free lock is granted
	measures
)

// measureInfo has the name of each measure in stored entries, the properties that it is evidence
// for, and whether it is a time, which is compared as a share of the TTL (the others are shares or
// counts). Other measures led to nothing that new draws do not find sooner: docs/evidence/hunt.md.
var measureInfo = [measures]struct {
	name  string
	timed bool
	to    []checker.Property
}{
	rivalVotes: {"rival_votes", false, []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Fence, checker.Contract}},
	ownVotes:   {"own_votes", false, []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Fence, checker.Contract}},
	gap:        {"gap", true, []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Fence}},
	remaining:  {"remaining", true, []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Contract}},
	leftKey:    {"left_key", false, []checker.Property{checker.Cleanup, checker.DeadlockFreedom}},
	waiting:    {"waiting", false, []checker.Property{checker.DeadlockFreedom}},
}

// unmeasured is the value of a measure without data.
const unmeasured = math.MaxInt64

// fitness is a [history.Sink] that measures how close a run came to violations. It need not be
// exact, since it only guides the search.
type fitness struct {
	header history.Header
	voting history.Electorate

	near [measures]int64

	resources []*resourceState
	now       history.Time
}

// resourceState is the attempts and holds of a resource that are not over, or have keys left.
type resourceState struct {
	resource string
	attempts []*attempt
	free     history.Time // since when nobody holds it
}

// attempt is an attempt to acquire, and the hold that follows.
type attempt struct {
	client  int
	token   string
	since   history.Time // the call of acquire
	granted history.Time
	ended   history.Time // of the window, if it is not open
	keys    uint64       // nodes that have a key, as in [history.Electorate]
	fresh   uint64       // keys set since somebody else holds the lock

	holds bool // granted and valid
	stale bool // the validity ended without a release
	over  bool // refused or released
}

func newFitness(h history.Header) *fitness {
	c := &fitness{header: h, voting: h.Electorate()}
	for m := range c.near {
		c.near[m] = unmeasured
	}
	return c
}

// update records a distance.
func (c *fitness) update(m measure, distance int64) { c.near[m] = min(c.near[m], distance) }

// Record implements [history.Sink].
func (c *fitness) Record(e *history.Event) {
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
		c.expired(e)
	case history.EntryGone:
		if t := c.resource(e.Resource).find(e.Token); t != nil && t.holds {
			c.update(ownVotes, c.early(t))
		}
	case history.End:
		c.finish()
	}
}

// resource returns the state of a resource.
func (c *fitness) resource(resource string) *resourceState {
	for _, r := range c.resources {
		if r.resource == resource {
			return r
		}
	}
	r := &resourceState{resource: resource}
	c.resources = append(c.resources, r)
	return r
}

// find returns the latest attempt with a token.
func (r *resourceState) find(token string) *attempt {
	for i := len(r.attempts) - 1; i >= 0; i-- {
		if r.attempts[i].token == token {
			return r.attempts[i]
		}
	}
	return nil
}

func (c *fitness) called(e *history.Event) {
	r := c.resource(e.Resource)
	switch e.Kind {
	case history.Acquire:
		r.attempts = slices.DeleteFunc(r.attempts, func(t *attempt) bool { return t.over && t.keys == 0 })
		r.attempts = append(r.attempts, &attempt{client: e.Client, token: e.Token, since: e.Time})
	case history.Release:
		if t := r.find(e.Token); t != nil {
			c.close(r, t)
			t.stale = false
		}
	}
}

func (c *fitness) returned(e *history.Event) {
	r := c.resource(e.Resource)
	t := r.find(e.Token)
	switch {
	case t == nil:
	case e.Kind == history.Granted:
		c.granted(r, t, e)
	default:
		t.over, t.ended = true, e.Time
	}
}

// recordBound records how close a duration came to its bound.
func (c *fitness) recordBound(m measure, bound, took time.Duration) {
	if bound > 0 {
		c.update(m, share(max(0, bound-took), bound))
	}
}

// share returns part/whole in parts per million, to compare times of different scenarios.
func share(part, whole time.Duration) int64 { return int64(part / max(whole/million, 1)) }

const million = 1_000_000

func (r *resourceState) held() bool {
	return slices.ContainsFunc(r.attempts, func(t *attempt) bool { return t.holds })
}

func (c *fitness) granted(r *resourceState, t *attempt, e *history.Event) {
	if e.Validity > 0 {
		c.update(remaining, int64(e.Validity))
	}
	for _, other := range r.attempts {
		switch {
		case other == t || other.client == t.client:
		case other.stale:
			c.update(gap, int64(e.Time.Sub(other.ended)))
		}
	}
	if !r.held() {
		c.recordBound(waiting, c.header.Bounds.Grant, e.Time.Sub(max(r.free, t.since)))
	}
	t.holds, t.granted = true, e.Time
	for _, other := range r.attempts {
		if other != t {
			other.fresh = 0
		}
	}
	c.countVotes(r)
}

// close ends the window of a hold.
func (c *fitness) close(r *resourceState, t *attempt) {
	if t.holds {
		t.holds, t.ended, r.free = false, c.now, c.now
	}
}

// expired handles a hold whose validity is over, or that is lost.
func (c *fitness) expired(e *history.Event) {
	r := c.resource(e.Resource)
	if t := r.find(e.Token); t != nil && t.holds {
		c.close(r, t)
		t.stale = true
	}
}

func (c *fitness) keyChanged(e *history.Event) {
	r := c.resource(e.Resource)
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
		c.recordLeftKeys(t)
	}
	c.countVotes(r)
}

// recordLeftKeys records how long an abandoned token has had keys.
func (c *fitness) recordLeftKeys(t *attempt) {
	if t.over {
		c.recordBound(leftKey, c.header.Bounds.Cleanup, c.now.Sub(t.ended))
	}
}

// countVotes records votes while somebody holds a resource.
func (c *fitness) countVotes(r *resourceState) {
	for _, holder := range r.attempts {
		if !holder.holds {
			continue
		}
		if !c.voting.None() {
			c.update(ownVotes, int64(c.voting.Count(holder.keys))<<timeBits+c.early(holder))
		}
		for _, t := range r.attempts {
			if t != holder && t.fresh != 0 && !t.over {
				lacks := max(0, c.voting.Needed()-c.voting.Count(t.keys))
				c.update(rivalVotes, int64(lacks)<<timeBits+c.early(holder))
			}
		}
	}
}

// timeBits is the position of a count above a share of the TTL in measures that combine both.
const timeBits = 50

// early returns a smaller value the earlier it is in a hold: an event with most of the hold
// ahead is closer to a violation.
func (c *fitness) early(t *attempt) int64 {
	return min(share(max(0, c.now.Sub(t.granted)), c.header.LongestTTL), 1<<timeBits-1)
}

// distance returns a measure on a scale that is common to scenarios with different times.
func (c *fitness) distance(m measure) int64 {
	d := c.near[m]
	if d < unmeasured && measureInfo[m].timed {
		d = share(time.Duration(d), c.header.LongestTTL)
	}
	return d
}

func (c *fitness) finish() {
	for _, r := range c.resources {
		trying := false
		for _, t := range r.attempts {
			if t.keys != 0 {
				c.recordLeftKeys(t)
			}
			trying = trying || t.granted == 0 && !t.over
		}
		if trying && !r.held() {
			c.recordBound(waiting, c.header.Bounds.Grant, c.now.Sub(r.free))
		}
	}
}

// NearMiss says how close runs came to granting a lock twice. The zero value means not
// measured.
type NearMiss struct {
	votes, gap, validity distance
}

// distance is a distance from a violation plus 1. 0 means not measured.
type distance int64

// nearMiss describes one run.
func (c *fitness) nearMiss() (n NearMiss) {
	for _, one := range []struct {
		to      *distance
		measure measure
		unit    int64
	}{{&n.votes, rivalVotes, 1 << timeBits}, {&n.gap, gap, 1}, {&n.validity, remaining, 1}} {
		if d := c.near[one.measure]; d < unmeasured {
			*one.to = distance(max(d/one.unit, 0) + 1)
		}
	}
	return n
}

// Closer returns the closer of both in each respect.
func (n NearMiss) Closer(than NearMiss) NearMiss {
	return NearMiss{n.votes.closer(than.votes), n.gap.closer(than.gap), n.validity.closer(than.validity)}
}

func (d distance) closer(than distance) distance {
	if d == 0 || than != 0 && than < d {
		return than
	}
	return d
}

// String returns text as in "1 vote short, 3ms apart, validity 5ms": votes that a second
// holder lacked, the time between two holds, the least validity at a grant. It is empty if
// nothing was measured.
func (n NearMiss) String() string {
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
