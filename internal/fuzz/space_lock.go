package fuzz

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/scenarios"
)

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
