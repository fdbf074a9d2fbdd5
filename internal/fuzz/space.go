package fuzz

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// SearchSpace is where a hunt takes place: it draws the scenarios.
type SearchSpace interface {
	// Name is what the scenarios are called.
	Name() string
	// Draw draws a scenario that is valid and has no plan, no generator and no
	// expectations.
	Draw(random *rand.Rand) scenarios.Scenario
}

// ofLock is the ground of a kind of lock.
type ofLock struct{ family }

// SpaceOfLock returns the ground of a kind of lock: clients, times, settings of the lock and
// worlds of all sorts. Each draw does without most of what there is, so that what shows
// only where something else does not happen is seen too.
func SpaceOfLock(kind string) (SearchSpace, error) {
	i := slices.IndexFunc(families, func(f family) bool { return f.kind == kind })
	if i < 0 {
		var known []string
		for _, f := range families {
			known = append(known, f.kind)
		}
		return nil, fmt.Errorf("nothing is known of where to hunt a lock %q: there is %v", kind, known)
	}
	return ofLock{families[i]}, nil
}

// family is what tells the ground of one kind of lock from that of another.
type family struct {
	kind string

	// keeps is where the lock is kept.
	keeps keeping

	// options draws what the lock has beside what all locks have; nil: nothing.
	options func(d dice, s *scenarios.Scenario)
}

type keeping uint8

const (
	onMajority keeping = iota + 1 // of the nodes
	onOneNode
	inStore
)

// families are the kinds of locks, in the order of [runner.Locks].
var families = []family{
	{"redlock", onMajority, drawRedlock},
	{"check-then-set", onOneNode, nil},
	{"setnx-then-expire", onOneNode, nil},
	{"setnx-del", onOneNode, nil},
	{"get-then-del", onOneNode, nil},
	{"single-node", onOneNode, nil},
	{"database-row", inStore, nil},
	{"zookeeper", inStore, drawHeartbeat},
	{"etcd", inStore, drawHeartbeat},
	{"etcd-unchecked", inStore, drawHeartbeat},
	{"chubby", inStore, drawChubby},
	{"fenced", inStore, drawFenced},
}

// familyOf returns that of a lock; of a kind that is not known the one of which least
// is promised.
func familyOf(kind string) family {
	for _, f := range families {
		if f.kind == kind {
			return f
		}
	}
	return family{kind: kind}
}

func (o ofLock) Name() string { return "hunt-" + o.kind }

func (o ofLock) Draw(random *rand.Rand) scenarios.Scenario {
	d := dice{random}
	s := scenarios.Scenario{Name: o.Name(), Lock: scenarios.Lock{Kind: o.kind}}
	s.Clients = make([]scenarios.Client, one(d, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 5, 6, 7, 8))
	s.Nodes = o.nodes(d)
	drawTTL(d, &s.Lock)
	drawNetwork(d, &s)
	drawDisks(d, &s)
	if o.keeps == inStore {
		drawStore(d, &s)
	}
	drawPatience(d, &s)
	if o.options != nil {
		o.options(d, &s)
	}
	drawRetry(d, &s)
	drawGuard(d, &s)
	s.Clients = drawClients(d, s, len(s.Clients), allWorkloads)
	outlast(d, &s)
	save(&s, oneRound, fewClients(4), shortWork, fewClients(3), fewClients(2), slowRetry)
	outwork(d, &s)
	drawCamps(d, &s)
	s.Bounds = bounds(s)
	s.Horizon = horizon(s)
	return s
}

func (o ofLock) nodes(d dice) int {
	switch o.keeps {
	case onOneNode:
		return one(d, 1, 1, 1, 3)
	case inStore:
		return one(d, 3, 3, 3, 5)
	}
	return one(d, 1, 2, 3, 3, 3, 3, 3, 4, 4, 4, 5, 5, 5, 5, 5, 5, 6, 7)
}

// horizon leaves faults the time that they may take, and then that in which somebody
// has to be granted the lock. Most runs end long before, when all clients are done.
func horizon(s scenarios.Scenario) time.Duration {
	const ofFaults = 6 // TTLs: see nemesis.Generator
	b := s.Bounds
	return ofFaults*s.Lock.TTL + s.LongestTTL() + 2*s.Lock.Quarantine + max(2*b.Acquire, b.Grant*5/4)
}

// around is the ground about one scenario.
type around struct{ scenario scenarios.Scenario }

// SpaceAround returns the ground of one scenario: its lock and its world stay as they are,
// and its plan is forgotten, with what is said of it. In half of the draws its clients are
// drawn anew, who lock the same and touch it as its own do; bounds are then such that the
// lock can keep them. Where its own clients make a run dear they mostly come late.
func SpaceAround(s scenarios.Scenario) SearchSpace {
	s.Plan, s.Generate, s.Expect = nil, nil, nil
	s.Summary, s.Claims, s.SlipMargin = "", scenarios.Claims{}, 0 // which are about that plan
	return around{s}
}

func (a around) Name() string { return a.scenario.Name }

func (a around) Draw(random *rand.Rand) scenarios.Scenario {
	d, s := dice{random}, a.scenario
	if d.chance(50) {
		if tries(s) > 2*mostTries && d.chance(75) {
			s.Clients = slices.Clone(s.Clients)
			comeLate(&s)
		}
		return s
	}
	first := s.Clients[0]
	s.Clients = drawClients(d, s, len(s.Clients)+one(d, 0, 0, 0, 1), a.workloads(d))
	for i := range s.Clients {
		c := &s.Clients[i]
		c.Resource, c.Resources, c.Fence = first.Resource, first.Resources, first.Fence
	}
	save(&s, oneRound, shortWork, comeLate)
	if q := s.Lock.Quarantine; q > 0 && q < s.LongestTTL() {
		return a.scenario
	}
	s.Bounds = widened(s.Bounds, bounds(s))
	if s.Validate() != nil { // with a TTL of decades what is drawn by it may be too long
		return a.scenario
	}
	return s
}

// workloads are those of the scenario's own clients, or all that touch what they do.
func (a around) workloads(d dice) (own []string) {
	touching := []string{"section", "checked", "posted"}
	touches := false
	for _, c := range a.scenario.Clients {
		own = append(own, c.Workload)
		touches = touches || slices.Contains(touching, c.Workload)
	}
	switch {
	case d.chance(50):
		return own
	case touches:
		return touching
	}
	return []string{"hold", "hold", "misuse"}
}

// widened returns the bounds that a scenario states, as wide as other clients need them.
// For what nothing follows from its settings there is none.
func widened(stated, needed history.Bounds) history.Bounds {
	wide := func(a, b time.Duration) time.Duration {
		if a == 0 || b == 0 {
			return 0
		}
		return max(a, b)
	}
	return history.Bounds{
		Acquire: wide(stated.Acquire, needed.Acquire),
		Extend:  wide(stated.Extend, needed.Extend),
		Release: wide(stated.Release, needed.Release),
		Grant:   wide(stated.Grant, needed.Grant),
		Cleanup: wide(stated.Cleanup, needed.Cleanup),
		Notice:  wide(stated.Notice, needed.Notice),
		Tries:   stated.Tries,
	}
}

// A hunt lives on the number of its runs, and a run costs what its tries cost. Nearly all
// of those are made in vain, by who waits for somebody who holds for long.

// mostTries is about how many a run may make.
const mostTries = 20

// mostEvents is how many events a run may have. Those of the debate have some thousands, and
// one of them 130,000; one that goes on and on costs the hunt all others.
const mostEvents = 1_000_000

// save makes a scenario cheaper until it is cheap, in one way after another: each takes
// away what a run most often shows with less of it too.
func save(s *scenarios.Scenario, ways ...func(*scenarios.Scenario)) {
	for _, less := range ways {
		if tries(*s) <= mostTries {
			return
		}
		less(s)
	}
}

func oneRound(s *scenarios.Scenario) {
	for i := range s.Clients {
		s.Clients[i].Rounds = 1
	}
}

func fewClients(most int) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) { s.Clients = s.Clients[:min(len(s.Clients), most)] }
}

// shortWork leaves one client that holds for long.
func shortWork(s *scenarios.Scenario) {
	most := s.Lock.TTL / 10
	for i := range s.Clients[1:] {
		w := &s.Clients[1+i].Work
		w.Min, w.Max = min(w.Min, most), min(w.Max, most)
	}
}

// comeLate lets those who wait begin shortly before the first lets go, or its TTL is over:
// what nodes forgot they have forgotten for who comes then too, and what they let go too
// early is seen.
func comeLate(s *scenarios.Scenario) {
	first := s.Clients[0]
	from := min((first.Start.Max + min(mean(first.Work), s.Lock.TTL)*9/10).Truncate(ms), nemesis.MaxDuration)
	for i := range s.Clients[1:] {
		start := &s.Clients[1+i].Start
		start.Min, start.Max = max(start.Min, from), max(start.Max, from)
	}
}

func slowRetry(s *scenarios.Scenario) {
	r := &s.Lock.Retry
	times := min(time.Duration(tries(*s)/mostTries+1), nemesis.MaxDuration/max(1, r.Max))
	r.Min, r.Max = r.Min*times, r.Max*times
}

// tries estimates how many a run makes if nothing goes wrong.
func tries(s scenarios.Scenario) int {
	var held time.Duration
	sum := 0
	for _, c := range s.Clients {
		sum += c.Rounds
		held += time.Duration(c.Rounds) * heldBy(s, c)
	}
	if familyOf(s.Lock.Kind).keeps == inStore { // who waits is woken
		return sum
	}
	for _, c := range s.Clients[1:] {
		turn := max(1, mean(s.Lock.Retry)+mean(s.Latency.Range)*2) // nothing may take any time
		waits := int(max(0, held-mean(c.Start)) / turn)
		if s.Lock.Tries > 0 {
			waits = min(waits, c.Rounds*s.Lock.Tries)
		}
		sum += waits
	}
	return sum
}

// heldBy is about how long a client holds what it is granted.
func heldBy(s scenarios.Scenario, c scenarios.Client) time.Duration {
	return min(mean(c.Work), s.Lock.TTL*5/4)
}

func mean(r nemesis.Range) time.Duration { return (r.Min + r.Max) / 2 }
