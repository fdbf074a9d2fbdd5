package promises

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Bounds returns time bounds that a correct lock keeps in the scenario's world without faults.
// They follow from its timeouts and the latencies. Where nothing follows there is no bound: a
// lock that waits less than a round trip promises nothing. They are generous: what breaks a
// bound breaks it by far, and a false alarm is worse than a late one.
func Bounds(s scenarios.Scenario) history.Bounds {
	e := callTimesOf(s)
	b := history.Bounds{Acquire: withSlack(e.acquire), Extend: withSlack(e.extend), Release: withSlack(e.release)}
	b.Notice = withSlack(e.notice(s.Lock))
	if e.storedOn == InStore && e.nodeWait >= Validity(s.Lock) {
		b.Acquire = 0 // each session ends before its client learns of it
	}
	if !e.feasible(s) {
		return b
	}
	b.Tries, b.Grant, b.Free, b.Cleanup = e.tries(s), e.grant(s), e.free(s), e.cleanup(s)
	b.Quorum, b.Renew = e.quorum(s.Lock), e.renew(s.Lock)
	return b
}

// Achievable returns the names of a scenario's bounds that a correct lock keeps: those
// that are no shorter than those of [Bounds]. Of other bounds only their author knows.
func Achievable(s scenarios.Scenario) (kept []string) {
	s.Bounds.Combined(Bounds(s), func(name string, has, least int64) int64 {
		if least > 0 && has >= least {
			kept = append(kept, name)
		}
		return 0
	})
	return kept
}

const ms = time.Millisecond

// withSlack allows for a slow clock of the client.
func withSlack(d time.Duration) time.Duration { return (2*d + 5*ms).Round(time.Microsecond) }

// callTimes are how long the calls of a lock may take, by its timeouts.
type callTimes struct {
	storedOn                 Storage
	roundTrip                time.Duration // without faults
	nodeWait                 time.Duration // for the replies to one request to all nodes
	acquire, extend, release time.Duration
}

func callTimesOf(s scenarios.Scenario) callTimes {
	l := s.Lock
	e := callTimes{storedOn: StorageOf(l.Kind), roundTrip: RoundTrip(s), nodeWait: l.NodeTimeout}
	if l.Sequential {
		e.nodeWait *= time.Duration(s.Nodes)
	}
	e.acquire, e.extend, e.release = e.nodeWait, e.nodeWait, e.nodeWait
	switch {
	case e.storedOn == OnOneNode:
		e.acquire, e.release = 2*e.nodeWait, 2*e.nodeWait // some locks need two commands
	case e.storedOn == InStore:
		// The client opens or renews a session, creates an entry, and looks for it if the
		// reply is lost. Then it reads the list, and again whenever an entry before its own
		// is removed.
		e.acquire = time.Duration(6+2*len(s.Clients)) * e.nodeWait
		e.release = 2 * e.nodeWait
		switch l.Kind { // an extension that others overtake is sent again, for a TTL
		case "expiring-key", "object-store", "dynamodb-lock":
			e.extend = l.TTL + 2*e.nodeWait
		}
	case l.Fence == "quorum":
		// A client that is overtaken draws again while its validity lasts.
		e.acquire = 4*e.nodeWait + l.TTL
	case l.Fence != "":
		e.acquire = 2*e.nodeWait + l.NodeTimeout
	}
	return e
}

// notice returns within what time a running holder learns that its hold is over. A lock that
// sleeps on another clock than the one it reads looks at that 16 times per TTL; after its
// machine slept, it may first wait for the replies to an extension.
func (e callTimes) notice(l scenarios.Lock) time.Duration { return l.TTL/16 + ms + e.nodeWait }

// Feasible reports whether attempts can succeed with the timeouts of a scenario's lock, if there are
// no faults.
func Feasible(s scenarios.Scenario) bool { return callTimesOf(s).feasible(s) }

// feasible reports whether the timeouts allow for round trips, and the TTL for the timeouts.
// Otherwise attempts fail without any fault.
func (e callTimes) feasible(s scenarios.Scenario) bool {
	return e.storedOn != 0 && s.Lock.NodeTimeout >= 2*e.roundTrip && 2*e.acquireAlone() <= Validity(s.Lock)
}

// acquireAlone returns how long an attempt takes at most without competition.
func (e callTimes) acquireAlone() time.Duration { return min(e.acquire, 4*e.nodeWait) }

// tries returns within how many attempts a client without competition succeeds. A restarted
// node in quarantine does not help, and a single counter needs its node.
func (e callTimes) tries(s scenarios.Scenario) int {
	if e.storedOn == OnOneNode || s.Lock.Quarantine > 0 || s.Lock.Fence == "one-node" {
		return 0
	}
	if e.storedOn == InStore {
		// During an election there is no leader, and an attempt repeats its requests until it
		// times out. During a lock-delay an attempt is refused at once.
		return 4 + int(4*longest(s.Store.Election)/e.nodeWait) + int(s.Lock.LockDelay/max(s.Lock.Retry.Min, time.Microsecond))
	}
	return 4
}

// grant returns within what time one of several retrying clients is granted the lock. A failed
// attempt occupies nodes for a while. If the delay between attempts is drawn from a far longer
// range than all of them take, ten or twenty attempts are enough. Otherwise there is no such
// time.
func (e callTimes) grant(s scenarios.Scenario) time.Duration {
	l := s.Lock
	gives, spins := l.Tries > 0, 20*e.spin(s)
	switch {
	case e.storedOn == InStore:
		return 4*l.TTL + l.LockDelay + l.Grace + 4*longest(s.Store.Election) + spins
	case e.storedOn == OnOneNode:
		if gives || l.Kind == "check-then-set" || l.Kind == "setnx-then-expire" { // keys without expiry
			return 0
		}
		return 20 * spins
	case gives || l.Fence == "one-node" || !e.cleansUp(s):
		return 0
	case l.Retry.Max-l.Retry.Min < RetryRoom(s):
		return 0
	}
	return spins + 2*l.Quarantine
}

// free returns within what time one of several retrying clients is granted a lock that is free,
// without faults. Only a store keeps a lock from others for longer than its entry. A client that starts does not
// know how long the nodes have been running, so it waits for the quarantine, whatever their age.
func (e callTimes) free(s scenarios.Scenario) time.Duration {
	if e.grant(s) == 0 {
		return 0
	}
	return 20*e.spin(s) + s.Lock.LockDelay + s.Lock.Grace + 2*s.Lock.Quarantine
}

// spin returns how long a failed attempt and the delay after it take.
func (e callTimes) spin(s scenarios.Scenario) time.Duration {
	return s.Lock.Retry.Max + e.acquireAlone() + e.roundTrip
}

// quorum returns within what time a release returns after a quorum of nodes has deleted the keys. A lock
// that asks one node after the other waits for each.
func (e callTimes) quorum(l scenarios.Lock) time.Duration {
	if e.storedOn != OnMajority || l.Sequential {
		return 0
	}
	return withSlack(e.roundTrip)
}

// renew returns within what time a watchdog extends a hold again. It counts on the lock's clock, at which a
// lock that sleeps on another looks 16 times per TTL.
func (e callTimes) renew(l scenarios.Lock) time.Duration {
	w := l.Watchdog
	if e.storedOn != OnMajority || w.Every == 0 || w.Limit > 0 {
		return 0
	}
	return w.Every + l.Allowance(l.TTL) + l.TTL/16 + e.nodeWait + 5*ms
}

// cleansUp reports whether the lock waits long enough for the reply to each of its requests.
func (e callTimes) cleansUp(s scenarios.Scenario) bool {
	return max(s.Lock.Linger, s.Lock.NodeTimeout) >= 2*e.roundTrip
}

// cleanup returns within what time a key is deleted: a late one when its reply arrives, one
// whose reply is lost after another linger time. Beyond the TTL there is nothing to see.
func (e callTimes) cleanup(s scenarios.Scenario) time.Duration {
	l := s.Lock
	linger := max(l.Linger, l.NodeTimeout)
	var bound time.Duration
	switch {
	case e.storedOn == OnMajority && e.cleansUp(s):
		bound = 4*linger + 4*e.roundTrip
		if l.Sequential {
			bound += e.nodeWait
		}
	case l.Kind == "single-node":
		bound = 6*l.NodeTimeout + 4*e.roundTrip
	}
	if bound > l.TTL*4/5 {
		return 0
	}
	return bound
}

// Validity returns a TTL minus the allowance for clock errors: the drift factor's share, and
// 2 ms.
func Validity(l scenarios.Lock) time.Duration {
	return l.TTL - time.Duration(float64(l.TTL)*l.DriftFactor) - 2*ms
}

// RetryRoom returns the width of the range of retry delays with which one of several retrying
// clients is granted the lock in the end.
func RetryRoom(s scenarios.Scenario) time.Duration {
	e := callTimesOf(s)
	failed := e.acquireAlone() + 2*e.roundTrip // how long an attempt keeps others from the nodes, if some do not reply
	return time.Duration(4*len(s.Clients)) * failed
}

// RoundTrip returns the longest round trip: latency, disk syncs of other clients' requests,
// and the wait for a connection. A store replicates a change before it replies.
func RoundTrip(s scenarios.Scenario) time.Duration {
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

// longest returns the longest duration of a distribution.
func longest(d nemesis.Distribution) time.Duration {
	longest := d.Max
	for _, s := range d.Samples {
		if d.Range == (nemesis.Range{}) {
			longest = max(longest, s)
		}
	}
	return longest
}
