package fuzz

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// promises is what each kind of lock promises, by its name.
var promises = map[string]func(scenarios.Scenario) Terms{
	"redlock":           redlock,
	"single-node":       singleNode,
	"check-then-set":    nothing,
	"setnx-then-expire": nothing,
	"setnx-del":         nothing,
	"get-then-del":      nothing,
	"database-row":      row,
	"zookeeper":         session,
	"etcd":              session,
	"etcd-unchecked":    unchecked,
	"chubby":            session,
	"fenced":            session,
}

// PromisedTerms returns what the lock of a scenario promises there, as it is set and with
// what it is kept on; nil for a lock that is not known, of which nothing is promised.
func PromisedTerms(s scenarios.Scenario) Terms {
	promise, known := promises[s.Lock.Kind]
	if !known {
		return nil
	}
	t := promise(s)
	if a, ok := t[checker.Contract]; ok && s.Bounds.Notice > 0 {
		t[checker.Contract] = clockCounts(a, s)
	}
	if a, ok := effects(s, t); ok {
		t[checker.Effect] = a
	}
	return t
}

func nothing(scenarios.Scenario) Terms { return Terms{} }

// The clocks of a lease: a key lives for the TTL as a node's clock counts, the
// validity, which is shorter by the allowance, as the holder's does. With both wrong by
// ρ at most the first is not shorter if and only if 2ρ/(1+ρ) ≤ allowance/TTL.
//
// With that a key that was set for the TTL has nothing to say any more a TTL later, by
// true time: so long a node has to stay away that has forgotten it.
func lease(s scenarios.Scenario) Assumptions {
	ttl := s.LongestTTL()
	share := s.Lock.DriftFactor + float64(fixedAllowance)/float64(ttl)
	ppm := min(int64(share/(2-share)*1e6), stopped-1)
	return Assumptions{
		Without:       []nemesis.Kind{"evict", "clone", "split-brain"},
		RestartDelay:  ttl,
		ClockRatePPM:  &ppm,
		NodeClockStep: new(time.Duration(0)),
		ClockGoesOn:   true,
	}
}

// fixedAllowance is what an allowance has beside the drift factor's share.
const fixedAllowance = 2 * time.Millisecond

// clockOfItsOwn adds what a lock assumes that reads the wall clock. A token that is the
// time must not come twice, as when a call that is cancelled at once is made again in
// the same microsecond.
func clockOfItsOwn(a Assumptions, s scenarios.Scenario) Assumptions {
	if readsWall(s.Lock) {
		a.ClientClockStep = new(time.Duration(0))
	}
	if s.Lock.Tokens == "time" {
		a.Without = slices.Concat(a.Without, []nemesis.Kind{"cancel"})
	}
	return a
}

// clockCounts adds what a lock assumes that tells its holder in time, by a clock, that a
// time to live is over: that the clock is behind by no more than the allowance.
func clockCounts(a Assumptions, s scenarios.Scenario) Assumptions {
	a.ClockRatePPM, a.ClockGoesOn = lease(s).ClockRatePPM, true
	return clockOfItsOwn(a, s)
}

// unpaused are the assumptions under which a caller need not look at a clock.
func unpaused(a Assumptions) Assumptions {
	a.NoPauses = true
	a.Without = slices.Concat(a.Without, []nemesis.Kind{"clock-jump", "clock-rate", "clock-slew", "clock-strobe", "clock-freeze"})
	return a
}

// unforgotten adds that nodes forget nothing.
func unforgotten(a Assumptions) Assumptions {
	a.NothingForgotten, a.RestartDelay = true, 0
	return a
}

// without adds kinds of faults that do not happen.
func (a Assumptions) without(kinds ...nemesis.Kind) Assumptions {
	a.Without = slices.Concat(a.Without, kinds)
	return a
}

// sentOnce adds that no request comes to a node twice: a SET whose copy comes after the
// DEL leaves a key behind of which its client knows nothing, and which is in the way of
// others until it expires. And the copy of a DEL can come before its original, which then
// finds nothing to delete: the release says that the lock was held no more.
func sentOnce(a Assumptions) Assumptions { return a.without("duplicate") }

// tokensDiffer are the assumptions under which no token comes twice: one that is the
// time, and comes again, or that a clone has drawn too, lets a client's try delete what
// its hold, or that of another, rests on.
func tokensDiffer(s scenarios.Scenario) Assumptions {
	if s.Lock.Tokens != "time" {
		return Assumptions{Without: []nemesis.Kind{"clone"}}
	}
	return clockOfItsOwn(Assumptions{ClockRatePPM: lease(s).ClockRatePPM}, s)
}

// delaysDiffer adds that clients do not draw the same random numbers: those that collide
// and then wait for the same time collide again, for ever.
func delaysDiffer(a Assumptions) Assumptions {
	if slices.Contains(a.Without, nemesis.Kind("clone")) {
		return a
	}
	return a.without("clone")
}

func redlock(s scenarios.Scenario) Terms {
	excludes := clockOfItsOwn(lease(s), s)
	if s.Lock.Quarantine >= s.LongestTTL() { // it goes by the run id, which a restored machine keeps
		excludes.RestartDelay = 0
		excludes.Without = slices.Concat(excludes.Without, []nemesis.Kind{"vm-restore"})
	}
	tokens := tokensDiffer(s)
	progress := delaysDiffer(tokens)
	progress.FaultsEnd = true
	t := Terms{
		checker.Lease:           excludes,
		checker.Section:         unpaused(excludes),
		checker.DeadlockFreedom: sentOnce(progress),
		checker.FaultTolerance:  sentOnce(tokens),
		checker.Cleanup:         sentOnce(tokens),
		checker.Contract:        sentOnce(tokens),
	}
	if s.Lock.Fence == "quorum" || s.Lock.Fence == "one-node" {
		t[checker.Fence] = unforgotten(excludes)
	}
	if s.Lock.Fence == "one-node" { // without which there is no fence, and no lock
		delete(t, checker.DeadlockFreedom)
		delete(t, checker.FaultTolerance)
	}
	return t
}

func singleNode(s scenarios.Scenario) Terms {
	excludes := clockOfItsOwn(lease(s), s)
	tokens := tokensDiffer(s)
	return Terms{
		checker.Lease:           excludes,
		checker.Section:         unpaused(excludes),
		checker.DeadlockFreedom: sentOnce(delaysDiffer(Assumptions{FaultsEnd: true, Without: tokens.Without})),
		checker.Cleanup:         sentOnce(tokens),
		checker.Contract:        sentOnce(tokens),
	}
}

// effects says when a guarded resource is safe, whatever the lock does: if it checks
// what nobody else has. A fence that comes with the grant, or a token, is the lock's
// word; one that the clients draw from the resource itself is not.
func effects(s scenarios.Scenario, t Terms) (Assumptions, bool) {
	own := !slices.ContainsFunc(s.Clients, func(c scenarios.Client) bool { return !c.Fence })
	fence, bears := t[checker.Fence]
	switch {
	case s.Guard == guard.Token && s.Lock.Tokens != "time":
		return tokensDiffer(s), true
	case s.Guard != guard.Fenced:
		return Assumptions{}, false
	case s.Lock.Fence == "" && s.Store == nil && own:
		return Assumptions{FenceChecked: true}, true
	case bears:
		return Assumptions{FenceChecked: true, NothingForgotten: fence.NothingForgotten, Without: fence.Without}, true
	}
	return Assumptions{}, false
}

// stored are the terms of a lock in a store, by what its hold hangs on. Who gets no reply
// to a create looks for an entry with its own token; of clones each takes the other's for
// its own. So nothing is promised of them.
func stored(s scenarios.Scenario, excludes Assumptions) Terms {
	tokens := Assumptions{Without: []nemesis.Kind{"clone"}}
	excludes = excludes.without(tokens.Without...)
	progress := tokens
	progress.FaultsEnd = true
	if s.Store != nil && s.Store.Asynchronous { // what makes another node lead, which lacks the last changes
		excludes = excludes.without("crash", "power-loss", "shutdown", "failover", "old-snapshot", "node-pause", "vm-restore")
	}
	return Terms{
		checker.Lease:           excludes,
		checker.Section:         unpaused(excludes),
		checker.Fence:           excludes, // who is granted the lock late has an old one
		checker.DeadlockFreedom: progress,
		checker.FaultTolerance:  tokens,
		checker.Contract:        tokens,
	}
}

func row(s scenarios.Scenario) Terms {
	a := clockOfItsOwn(lease(s), s)
	a.Without, a.RestartDelay = nil, 0
	return stored(s, a)
}

func session(s scenarios.Scenario) Terms {
	a := clockOfItsOwn(lease(s), s)
	a.Without, a.RestartDelay, a.NodeClockStep = nil, 0, nil
	return stored(s, a)
}

// unchecked does not notice when its session ends: neither a hold nor a wait need have
// one any more.
func unchecked(s scenarios.Scenario) Terms {
	return Terms{checker.Contract: session(s)[checker.Contract]}
}

// ExternalTerms returns what can be asked of a lock of which no more is known than that nodes keep
// it for a time to live: what Redlock promises, but that no clock is wrong, for nobody knows
// what such a lock sets aside for that. endless says that it tells no end of validity: to
// rely on its grants is then to rely on no clock.
func ExternalTerms(s scenarios.Scenario, endless bool) Terms {
	excludes := lease(s)
	excludes.ClockRatePPM = new(int64(0))
	careless := unpaused(excludes)
	updates := careless
	updates.Without = append(slices.Clip(updates.Without), nemesis.Kind("guard-latency"))
	t := Terms{
		checker.Lease:           excludes,
		checker.Section:         careless,
		checker.Effect:          updates,
		checker.Fence:           unforgotten(excludes),
		checker.DeadlockFreedom: sentOnce(Assumptions{FaultsEnd: true}),
		checker.FaultTolerance:  sentOnce(Assumptions{}),
		checker.Cleanup:         sentOnce(Assumptions{}),
		checker.Contract:        sentOnce(Assumptions{}),
	}
	if s.Bounds.Notice > 0 {
		t[checker.Contract] = sentOnce(Assumptions{ClockRatePPM: new(int64(0)), ClockGoesOn: true})
	}
	if endless {
		t[checker.Lease] = careless
	}
	if a, ok := effects(s, t); ok {
		t[checker.Effect] = a
	}
	return t
}
