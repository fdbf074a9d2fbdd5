package fuzz

import (
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// bounds returns limits that a correct lock keeps in a scenario's world, as it is when
// faults have ended, because of what its settings say: they follow from the timeouts and
// the latencies. What nothing follows for has no bound: a lock that waits for less than a
// round trip promises nobody anything. They are generous: what breaks a bound breaks it
// by far, and an alarm about a lock that is right is worse than one that is late.
func bounds(s scenarios.Scenario) history.Bounds {
	e := effortOf(s)
	b := history.Bounds{Acquire: generous(e.acquire), Extend: generous(e.extend), Release: generous(e.release)}
	b.Notice = generous(e.notice(s.Lock))
	if e.keeps == inStore && e.patience >= validity(s.Lock) {
		b.Acquire = 0 // each session is over before it is known
	}
	if !e.ample(s) {
		return b
	}
	b.Tries, b.Grant, b.Cleanup = e.tries(s), e.grant(s), e.cleanup(s)
	return b
}

// BoundsKept lists the bounds of a scenario, by name, that a correct lock keeps because of
// what its settings say: those that are no shorter than hunts draw them. Of others it is
// for whoever wrote them to know.
func BoundsKept(s scenarios.Scenario) (kept []string) {
	of, least := s.Bounds, bounds(s)
	for name, b := range map[string]struct{ has, least int64 }{
		"acquire": {int64(of.Acquire), int64(least.Acquire)},
		"extend":  {int64(of.Extend), int64(least.Extend)},
		"release": {int64(of.Release), int64(least.Release)},
		"tries":   {int64(of.Tries), int64(least.Tries)},
		"grant":   {int64(of.Grant), int64(least.Grant)},
		"cleanup": {int64(of.Cleanup), int64(least.Cleanup)},
		"notice":  {int64(of.Notice), int64(least.Notice)},
	} {
		if b.least > 0 && b.has >= b.least {
			kept = append(kept, name)
		}
	}
	return kept
}

// generous allows for a clock of the client that runs slow.
func generous(d time.Duration) time.Duration { return (2*d + 5*ms).Round(time.Microsecond) }

// effort is how long the calls of a lock can take, by its timeouts.
type effort struct {
	family
	trip                     time.Duration // to a node and back, when nothing is wrong
	patience                 time.Duration // with the nodes, each time that they are asked
	acquire, extend, release time.Duration
}

func effortOf(s scenarios.Scenario) effort {
	l := s.Lock
	e := effort{family: familyOf(l.Kind), trip: roundTrip(s), patience: l.NodeTimeout}
	if l.Sequential {
		e.patience *= time.Duration(s.Nodes)
	}
	e.acquire, e.extend, e.release = e.patience, e.patience, e.patience
	switch {
	case e.keeps == onOneNode:
		e.acquire, e.release = 2*e.patience, 2*e.patience // two commands, with some
	case e.keeps == inStore:
		// A session is opened or saved, an entry created, and looked for if the answer
		// is lost. Then the list is read, and again whenever one before it is gone.
		e.acquire = time.Duration(6+2*len(s.Clients)) * e.patience
		e.release = 2 * e.patience
	case l.Fence == "quorum":
		// Who is overtaken draws again, for as long as there is validity left.
		e.acquire = 4*e.patience + l.TTL
	case l.Fence != "":
		e.acquire = 2*e.patience + l.NodeTimeout
	}
	return e
}

// notice is within what time a holder that runs learns that its hold is over. A lock that
// does not read the clock that it sleeps on looks at the other sixteen times in a TTL, and
// where the machine slept meanwhile it may wait for the answers to an extension first.
func (e effort) notice(l scenarios.Lock) time.Duration { return l.TTL/16 + ms + e.patience }

// promisedOnly returns the scenario without those bounds that its lock does not promise to
// keep under the plan: other bounds are promised there all the same.
func (h Hunt) promisedOnly(s scenarios.Scenario) scenarios.Scenario {
	without := s
	without.Bounds.Notice = 0
	kept := func(s scenarios.Scenario) bool { return h.Terms(s).Excuse(checker.Contract, s) == nil }
	if s.Bounds.Notice > 0 && !kept(s) && kept(without) {
		return without
	}
	return s
}

// ample reports whether the timeouts leave time enough for the answers of nodes, and the
// TTL for the timeouts: otherwise tries fail of themselves.
func (e effort) ample(s scenarios.Scenario) bool {
	return e.keeps != 0 && s.Lock.NodeTimeout >= 2*e.trip && 2*e.acquireAlone() <= validity(s.Lock)
}

// acquireAlone is how long a try takes at most when no other client overtakes it.
func (e effort) acquireAlone() time.Duration { return min(e.acquire, 4*e.patience) }

// tries is within how many tries a client that is alone succeeds. A node that has
// restarted is no help to a lock in quarantine, and one counter is none without its node.
func (e effort) tries(s scenarios.Scenario) int {
	if e.keeps == onOneNode || s.Lock.Quarantine > 0 || s.Lock.Fence == "one-node" {
		return 0
	}
	if e.keeps == inStore {
		// Nobody leads during an election, and a try asks for as long as it has patience.
		return 4 + int(4*longest(s.Store.Election)/e.patience)
	}
	return 4
}

// grant is within what time one of those who spin is granted the lock. Each of them keeps
// nodes busy for a while when it tries; where the time between tries is drawn from far
// more than all of them take, ten or twenty tries are enough. Where it is not there is no
// such time.
func (e effort) grant(s scenarios.Scenario) time.Duration {
	l := s.Lock
	gives := l.Tries > 0
	spins := l.Retry.Max + e.acquireAlone() + e.trip
	switch {
	case e.keeps == inStore:
		return 4*l.TTL + l.LockDelay + l.Grace + 4*longest(s.Store.Election) + 20*spins
	case e.keeps == onOneNode:
		if gives || l.Kind == "check-then-set" || l.Kind == "setnx-then-expire" { // keys that stay for ever
			return 0
		}
		return 20 * spins
	case gives || l.Fence == "one-node" || !e.cleansUp(s):
		return 0
	case l.Retry.Max-l.Retry.Min < roomToTry(s):
		return 0
	}
	return 20*spins + 2*l.Quarantine
}

// occupation is how long a try that fails keeps others from the nodes, if some of those
// do not answer.
func occupation(s scenarios.Scenario) time.Duration {
	e := effortOf(s)
	return e.acquireAlone() + 2*e.trip
}

// cleansUp reports whether the lock listens for long enough to hear of each key that it
// has set.
func (e effort) cleansUp(s scenarios.Scenario) bool {
	return max(s.Lock.Linger, s.Lock.NodeTimeout) >= 2*e.trip
}

// cleanup is within what time a key is deleted: a late one when it is heard of, one whose
// answer is lost a linger time later. Beyond the TTL there is nothing to see.
func (e effort) cleanup(s scenarios.Scenario) time.Duration {
	l := s.Lock
	linger := max(l.Linger, l.NodeTimeout)
	var bound time.Duration
	switch {
	case e.keeps == onMajority && e.cleansUp(s):
		bound = 4*linger + 4*e.trip
		if l.Sequential {
			bound += e.patience
		}
	case l.Kind == "single-node":
		bound = 6*l.NodeTimeout + 4*e.trip
	}
	if bound > l.TTL*4/5 {
		return 0
	}
	return bound
}

// roundTrip is the longest that a request and its answer take together: their latency, the
// disk for whoever is before it too, and a wait for a connection. In a store a change is
// replicated before it is answered.
func roundTrip(s scenarios.Scenario) time.Duration {
	latency := longest(s.Latency)
	for _, l := range s.Links {
		latency = max(latency, longest(l.Latency))
	}
	trip := 2 * latency
	if s.Sync != nil {
		trip += longest(*s.Sync) * time.Duration(2*len(s.Clients)+2)
	}
	if s.Store != nil {
		trip += longest(s.Store.Commit)
	}
	if s.Connections != (nemesis.Connections{}) {
		trip *= 3
	}
	return trip
}

// longest is the longest duration of a distribution.
func longest(d nemesis.Distribution) time.Duration {
	longest := d.Max
	for _, s := range d.Samples {
		if d.Range == (nemesis.Range{}) {
			longest = max(longest, s)
		}
	}
	return longest
}
