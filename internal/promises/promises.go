package promises

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// kinds are the kinds of locks: where each is stored, and its terms.
var kinds = map[string]struct {
	storedOn Storage
	terms    func(scenarios.Scenario) Terms
}{
	"redlock":              {OnMajority, redlockTerms},
	"single-node":          {OnOneNode, singleNodeTerms},
	"check-then-set":       {OnOneNode, noTerms},
	"setnx-then-expire":    {OnOneNode, noTerms},
	"setnx-del":            {OnOneNode, noTerms},
	"get-then-del":         {OnOneNode, noTerms},
	"database-row":         {InStore, rowTerms},
	"expiring-key":         {InStore, sessionTerms},
	"object-store":         {InStore, objectTerms},
	"dynamodb-lock":        {InStore, versionTerms},
	"lock-file":            {InStore, lockFileTerms},
	"kubernetes-lease":     {InStore, kubernetesTerms},
	"advisory":             {InStore, advisoryTerms},
	"advisory-transaction": {InStore, transactionTerms},
	"zookeeper":            {InStore, sessionTerms},
	"etcd":                 {InStore, sessionTerms},
	"etcd-unchecked":       {InStore, uncheckedTerms},
	"chubby":               {InStore, sessionTerms},
	"fenced":               {InStore, sessionTerms},
}

// Of returns what the lock of a scenario promises with its settings and its nodes
// or store; nil for an unknown lock.
func Of(s scenarios.Scenario) Terms {
	kind, known := kinds[s.Lock.Kind]
	if !known {
		return nil
	}
	t := kind.terms(s)
	if a, ok := t[checker.Contract]; ok && s.Bounds.Notice+s.Bounds.Renew > 0 {
		t[checker.Contract] = withNoticeClock(a, s)
	}
	if a, ok := effectAssumptions(s, t); ok {
		t[checker.Effect] = a
	}
	return t
}

func noTerms(scenarios.Scenario) Terms { return Terms{} }

// leaseAssumptions are those of a lease. A key lives for the TTL by a node's clock. The
// validity, shorter by the allowance, counts by the holder's. With both wrong by ρ at most,
// the key outlives the validity if and only if 2ρ/(1+ρ) ≤ allowance/TTL.
//
// Then a key no longer matters one TTL after it was set, in true time. So a node that forgets
// has to stay away for one TTL.
func leaseAssumptions(s scenarios.Scenario) Assumptions {
	ttl := s.LongestTTL()
	share := s.Lock.DriftFactor + float64(fixedAllowance)/float64(ttl)
	ppm := min(int64(share/(2-share)*1e6), stopped-1)
	return Assumptions{
		Without:       nemesis.KindsThat(nemesis.Evicts | nemesis.Clones | nemesis.SplitsMaster),
		RestartDelay:  ttl,
		ClockRatePPM:  &ppm,
		NodeClockStep: new(time.Duration(0)),
		ClockGoesOn:   true,
	}
}

// fixedAllowance is the part of an allowance that does not depend on the drift factor.
const fixedAllowance = 2 * time.Millisecond

// withOwnClock adds the assumptions of a lock that reads the wall clock. Tokens made of the
// time must not repeat, as when a call that is cancelled at once is made again in the same
// microsecond.
func withOwnClock(a Assumptions, s scenarios.Scenario) Assumptions {
	if readsWall(s.Lock) {
		a.ClientClockStep = new(time.Duration(0))
	}
	if s.Lock.Tokens == "time" {
		a = a.without(nemesis.CancelsCall)
	}
	return a
}

// withNoticeClock adds the assumptions of a lock that warns its holder, or extends its hold, in time, by a clock:
// the clock is slow by no more than the allowance.
func withNoticeClock(a Assumptions, s scenarios.Scenario) Assumptions {
	a.ClockRatePPM, a.ClockGoesOn = leaseAssumptions(s).ClockRatePPM, true
	return withOwnClock(a, s)
}

// withoutPauses adds the assumptions under which a caller need not look at a clock.
func withoutPauses(a Assumptions) Assumptions {
	a.NoPauses = true
	return a.without(nemesis.StepsClock | nemesis.WandersClock)
}

// withoutForgetting adds that nodes forget nothing.
func withoutForgetting(a Assumptions) Assumptions {
	a.NothingForgotten, a.RestartDelay = true, 0
	return a
}

// without adds the kinds of faults that do one of these things: they do not happen.
func (a Assumptions) without(do nemesis.Effect) Assumptions {
	more := slices.DeleteFunc(nemesis.KindsThat(do), func(k nemesis.Kind) bool { return slices.Contains(a.Without, k) })
	a.Without = slices.Concat(a.Without, more)
	return a
}

// withoutDuplicates adds that no request arrives twice. A copy of a SET that arrives after the
// DEL leaves a key that its client does not know of, and that blocks others until it expires.
// If the copy of a DEL arrives before the original, that finds nothing to delete, and the
// release reports that the lock was no longer held.
func withoutDuplicates(a Assumptions) Assumptions { return a.without(nemesis.Duplicates) }

// uniqueTokens are the assumptions under which no token repeats. With a repeated token (a
// time, or one that a clone draws too) an attempt can delete the keys of a hold.
func uniqueTokens(s scenarios.Scenario) Assumptions {
	if s.Lock.Tokens != "time" {
		return Assumptions{}.without(nemesis.Clones)
	}
	return withOwnClock(Assumptions{ClockRatePPM: leaseAssumptions(s).ClockRatePPM}, s)
}

// independentDelays adds that clients do not draw the same random numbers. Otherwise they wait
// for the same time after a collision, and collide for ever.
func independentDelays(a Assumptions) Assumptions { return a.without(nemesis.Clones) }

func redlockTerms(s scenarios.Scenario) Terms {
	excludes := withOwnClock(leaseAssumptions(s), s)
	if s.Lock.Quarantine >= s.LongestTTL() { // the quarantine relies on the run id, which a restored machine keeps
		excludes.RestartDelay = 0
		excludes = excludes.without(nemesis.KeepsRunID)
	}
	tokens := uniqueTokens(s)
	progress := independentDelays(tokens)
	progress.FaultsEnd = true
	t := Terms{
		checker.Backing:         excludes, // lease exclusion follows from it
		checker.Lease:           excludes,
		checker.Section:         withoutPauses(excludes),
		checker.DeadlockFreedom: withoutDuplicates(progress),
		checker.FaultTolerance:  withoutDuplicates(tokens),
		checker.Cleanup:         withoutDuplicates(tokens),
		checker.Contract:        withoutDuplicates(tokens),
	}
	if s.Lock.Fence == "quorum" || s.Lock.Fence == "one-node" {
		t[checker.Fence] = withoutForgetting(excludes)
	}
	if s.Lock.Fence == "one-node" { // without that node there is no fence, and no lock
		delete(t, checker.DeadlockFreedom)
		delete(t, checker.FaultTolerance)
	}
	return t
}

func singleNodeTerms(s scenarios.Scenario) Terms {
	excludes := withOwnClock(leaseAssumptions(s), s)
	tokens := uniqueTokens(s)
	return Terms{
		checker.Backing:         excludes, // lease exclusion follows from it
		checker.Lease:           excludes,
		checker.Section:         withoutPauses(excludes),
		checker.DeadlockFreedom: withoutDuplicates(independentDelays(Assumptions{FaultsEnd: true, Without: tokens.Without})),
		checker.Cleanup:         withoutDuplicates(tokens),
		checker.Contract:        withoutDuplicates(tokens),
	}
}

// effectAssumptions says when a guarded resource is safe whatever the lock does: if it checks
// something unique. Fences and tokens that the lock issues are only as good as the lock.
// Fences that the clients draw from the resource itself are always good.
func effectAssumptions(s scenarios.Scenario, t Terms) (Assumptions, bool) {
	own := !slices.ContainsFunc(s.Clients, func(c scenarios.Client) bool { return !c.Fence })
	fence, bears := t[checker.Fence]
	switch {
	case s.Guard == guard.Token && s.Lock.Tokens != "time":
		return uniqueTokens(s), true
	case s.Guard != guard.Fenced:
		return Assumptions{}, false
	case s.Lock.Fence == "" && s.Store == nil && own:
		return Assumptions{FenceChecked: true}, true
	case bears:
		return Assumptions{FenceChecked: true, NothingForgotten: fence.NothingForgotten, Without: fence.Without}, true
	}
	return Assumptions{}, false
}

// storeTerms are the terms of a lock in a store, given the assumptions of its hold. A client
// that gets no reply to a create looks for an entry with its own token; clones take each
// other's entries. So nothing is promised with clones. An entry is deleted by its revision, which a new
// leader that has lost changes issues again: then a release deletes the entry of another hold.
func storeTerms(s scenarios.Scenario, excludes Assumptions) Terms {
	tokens := Assumptions{}.without(nemesis.Clones)
	excludes = excludes.without(nemesis.Clones | nemesis.RevokesLeases)
	progress := tokens.without(nemesis.RestartsTTLs)
	progress.FaultsEnd = true
	excludes = excludes.withoutFailover(s)
	return Terms{
		checker.Backing:         excludes, // lease exclusion follows from it
		checker.Lease:           excludes,
		checker.Section:         withoutPauses(excludes),
		checker.Fence:           excludes, // a late grant has an old fence
		checker.DeadlockFreedom: progress,
		checker.FaultTolerance:  tokens,
		checker.Contract:        tokens.withoutFailover(s),
	}
}

// withoutFailover adds that a store that can lose changes keeps its leader.
func (a Assumptions) withoutFailover(s scenarios.Scenario) Assumptions {
	if s.Store == nil || !s.Store.Forgets() {
		return a
	}
	return a.without(nemesis.TakesDown | nemesis.StopsNode)
}

func rowTerms(s scenarios.Scenario) Terms {
	a := withOwnClock(leaseAssumptions(s), s)
	a.Without, a.RestartDelay = nil, 0
	return storeTerms(s, a)
}

func sessionTerms(s scenarios.Scenario) Terms {
	a := withOwnClock(leaseAssumptions(s), s)
	a.Without, a.RestartDelay, a.NodeClockStep = nil, 0, nil
	return storeTerms(s, a)
}

// versionTerms are those of a record that other clients take over. A client that does so too early deletes the
// record of a holder.
func versionTerms(s scenarios.Scenario) Terms {
	t := sessionTerms(s)
	t[checker.Contract] = t[checker.Lease]
	return t
}

// objectTerms are those of a record whose end clients tell by their wall clocks.
func objectTerms(s scenarios.Scenario) Terms {
	t := versionTerms(s)
	for _, p := range []checker.Property{checker.Backing, checker.Lease, checker.Section, checker.Contract} {
		terms := t[p].without(nemesis.StepsClock | nemesis.WandersClock | nemesis.FreezesWall)
		terms.ClientClockStep = new(time.Duration(0))
		t[p] = terms
	}
	return t
}

// lockFileTerms are those of a file without a time to live: it excludes others whatever the clocks show. A holder
// that ends without a release keeps the lock for ever.
func lockFileTerms(s scenarios.Scenario) Terms {
	t := storeTerms(s, Assumptions{})
	delete(t, checker.DeadlockFreedom)
	delete(t, checker.FaultTolerance)
	return t
}

// kubernetesTerms are those of the lock of client-go. A client that is late is a danger to others: it
// counts its deadline from the reply to a renewal, and its release empties the record of the next
// holder. So the lock excludes others while all clients reach a store that replies at once, and no
// client stands still. A wall clock that stands still makes renewals that change nothing.
//
// A deadline is behind the change of the record by a round trip, the retry period and the validity. If
// that is more than the TTL, nothing is promised even then.
func kubernetesTerms(s scenarios.Scenario) Terms {
	a := Assumptions{NoPauses: true, ClockGoesOn: true}.without(unavailable | nemesis.ReturnsErrors | nemesis.Delays | nemesis.Narrows | nemesis.FreezesWall)
	t := storeTerms(s, withOwnClock(a, s))
	t[checker.Contract] = t[checker.Lease]
	spare := s.Lock.TTL - Validity(s.Lock) - s.Lock.Heartbeat - RoundTrip(s)
	if spare <= 0 {
		delete(t, checker.Backing)
		delete(t, checker.Lease)
		delete(t, checker.Section)
		delete(t, checker.Fence)
		delete(t, checker.Contract)
		return t
	}
	share := float64(spare) / float64(s.Lock.TTL)
	ppm := min(int64(share/(2-share)*1e6), stopped-1)
	for _, p := range []checker.Property{checker.Backing, checker.Lease, checker.Section, checker.Fence, checker.Contract} {
		terms := t[p]
		terms.ClockRatePPM = &ppm
		t[p] = terms
	}
	return t
}

// unavailable is what ends connections to a store, or takes the lead from a node.
const unavailable = nemesis.TakesDown | nemesis.StopsNode | nemesis.SplitsMaster | nemesis.CutsLinks | nemesis.CutsPeers | nemesis.Loses | nemesis.Resets

// advisoryTerms are those of a lock that belongs to a connection to the leader. Its holder has no
// deadline, so it excludes others only while nothing ends connections, takes the lead from a node or makes the store
// answer with errors, after which the lock closes its connection.
// Who does not reach the leader does not get the lock. A holder that stands still for ever keeps its
// connection, and so the lock.
func advisoryTerms(s scenarios.Scenario) Terms {
	t := connectionTerms(s)
	progress := t[checker.DeadlockFreedom]
	progress.NoPauses = true
	t[checker.DeadlockFreedom] = progress
	return t
}

// connectionTerms are those of a lock that belongs to a connection, but for what a holder that stands still
// does to others.
func connectionTerms(s scenarios.Scenario) Terms {
	t := storeTerms(s, Assumptions{}.without(unavailable|nemesis.ReturnsErrors|nemesis.StopsMachine))
	t[checker.DeadlockFreedom] = t[checker.DeadlockFreedom].without(nemesis.CutsLinks)
	delete(t, checker.Backing) // it is no entry
	delete(t, checker.Fence)
	delete(t, checker.FaultTolerance)
	return t
}

// transactionTerms are those of a lock that belongs to a transaction, which the server ends if a
// heartbeat is late. The holder does not know when that is.
func transactionTerms(s scenarios.Scenario) Terms {
	t := connectionTerms(s)
	delete(t, checker.Lease)
	delete(t, checker.Section)
	return t
}

// uncheckedTerms are those of a lock that does not notice the end of its session: neither a
// hold nor a wait need have one any more.
func uncheckedTerms(s scenarios.Scenario) Terms {
	return Terms{checker.Contract: sessionTerms(s)[checker.Contract]}
}

// OfExternal returns what can be asked of an unknown lock that is stored on nodes, or in a
// store, for a time to live: what Redlock promises, but with perfect clocks, since its allowance for clock
// errors is unknown. endless says that it reports no end of validity: then relying on its
// grants means relying on no clock.
func OfExternal(s scenarios.Scenario, endless bool) Terms {
	excludes := leaseAssumptions(s).withoutFailover(s)
	excludes.ClockRatePPM = new(int64(0))
	careless := withoutPauses(excludes)
	updates := careless.without(nemesis.DelaysAccess)
	t := Terms{
		checker.Backing:         excludes, // lease exclusion follows from it
		checker.Lease:           excludes,
		checker.Section:         careless,
		checker.Effect:          updates,
		checker.Fence:           withoutForgetting(excludes),
		checker.DeadlockFreedom: withoutDuplicates(Assumptions{FaultsEnd: true}),
		checker.FaultTolerance:  withoutDuplicates(Assumptions{}),
		checker.Cleanup:         withoutDuplicates(Assumptions{}),
		checker.Contract:        withoutDuplicates(Assumptions{}),
	}
	told := withoutDuplicates(Assumptions{ClockRatePPM: new(int64(0)), ClockGoesOn: true})
	if s.Bounds.Notice > 0 {
		t[checker.Contract] = told
	}
	if endless {
		if s.Bounds.Loss > 0 {
			t[checker.Contract] = told.without(nemesis.StepsClock | nemesis.WandersClock)
		}
		t[checker.Backing], t[checker.Lease] = careless, careless
		if s.Store == nil { // in a store a hold ends with its client
			t[checker.Lease] = careless.without(nemesis.EndsClient)
		}
		t[checker.Fence] = withoutForgetting(careless) // a paused client's grant can return after later ones
	}
	if a, ok := effectAssumptions(s, t); ok {
		t[checker.Effect] = a
	}
	return t
}

// Storage says where a lock is stored.
type Storage uint8

// The places where a lock is stored.
const (
	OnMajority Storage = iota + 1 // of the nodes
	OnOneNode
	InStore
)

// StorageOf returns where a kind of lock is stored; 0 for an unknown kind.
func StorageOf(kind string) Storage { return kinds[kind].storedOn }
