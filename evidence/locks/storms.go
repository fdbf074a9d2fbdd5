package locks

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Series is storms that have a configuration in common.
type Series struct {
	Name string
	locktest.Config
}

// Series are what a lock is tried in: short work under the lock, and work that outlasts the TTL,
// for which the lock is extended.
func (s Subject) Series() []Series {
	short := locktest.Config{
		Name: s.Name, Backend: s.Backend, Store: s.Store, Nodes: s.Nodes, TTL: s.ttl(), Rounds: 8, Drawn: -1, Promises: s.judged(),
		Workload: "checked", // its holders ask the lock, just before they write, whether it is still held
	}
	// A call that is told to end has a TTL for it; an extension or a release that is
	// answered when the key is gone anyway is of no use to anybody.
	short.Bounds.Acquire, short.Bounds.Extend, short.Bounds.Release = 6*s.ttl(), s.ttl(), s.ttl()
	long := short
	long.Clients, long.Rounds, long.Work = 2, 2, s.ttl()*2
	if s.Extends {
		long.Extend = s.ttl() / 4
	}
	usual := slices.DeleteFunc(locktest.Storms(short), func(in locktest.Storm) bool { return in.Claimed || in.TTL != 0 })
	short.Storms = slices.Concat(usual, s.plain())
	long.Storms = s.long()
	switch {
	case s.Store != (locktest.Store{}):
		short.Rounds = 4
		short.Storms = slices.Concat(only(short.Storms, "contention"), only(short.Storms, "node-comes-back-late"))
		long.Storms = slices.Concat(only(long.Storms, "holder-cut-off"), only(long.Storms, "holder-cut-off-later"))
		long.Work = s.ttl() * 4 // leases of etcd outlast their TTL
		return []Series{{"short", short}, {"long", long}}
	case s.Backend == locktest.Process:
		short.Rounds, short.Storms, long.Storms = 4, only(short.Storms, "contention"), only(long.Storms, "holder-cut-off")
	case s.ExtendsOnly:
		return []Series{{"long", long}}
	}
	list := []Series{{"short", short}, {"long", long}}
	if brief := s.brief(short); len(brief.Storms) > 0 {
		list = append(list, Series{"brief", brief})
	}
	return list
}

// briefTTL is shorter than the time for which go-redis waits for a reply by default, 5 s.
const briefTTL = 2 * time.Second

// brief is short work under a lock with a short TTL. A node that does not answer is all that
// a shorter TTL makes a difference for.
func (s Subject) brief(short locktest.Config) locktest.Config {
	short.TTL = briefTTL
	short.Bounds.Acquire, short.Bounds.Extend, short.Bounds.Release = 6*briefTTL, briefTTL, briefTTL
	short.Storms = nil
	if s.Nodes > 1 {
		short.Storms = only(locktest.Storms(short), "node-off")
		short.Storms[0].Name += "-brief"
	}
	return short
}

func only(storms []locktest.Storm, name string) []locktest.Storm {
	return slices.DeleteFunc(slices.Clone(storms), func(s locktest.Storm) bool { return s.Name != name })
}

// judged are the properties that are judged of a lock without fences.
var judged = []checker.Property{checker.Backing, checker.Lease, checker.Section, checker.Effect, checker.DeadlockFreedom, checker.FaultTolerance, checker.Cleanup, checker.Contract}

// judged are those that its backend lets judge: keys are recorded in memory alone.
func (s Subject) judged() []checker.Property {
	if s.Backend == locktest.Memory {
		return judged
	}
	return slices.DeleteFunc(slices.Clone(judged), func(p checker.Property) bool { return p == checker.Cleanup })
}

// plain are storms of ours, with short work.
func (s Subject) plain() []locktest.Storm {
	return []locktest.Storm{
		{Name: "clocks-ahead", Summary: "the clocks of all nodes are a TTL ahead of those of the clients, from the beginning and for good", Plan: s.ahead()},
		{Name: "cancelled-unheard", Summary: "a call is cancelled while its requests arrive at all nodes, and the answers of a majority do not; then others come", Plan: s.unheard()},
	}
}

// unheard is a call that is cancelled before its client can know what it has. It is the second
// of the client, which is connected by then; the others come a while later.
func (s Subject) unheard() nemesis.Plan {
	call := func(plus time.Duration) nemesis.Trigger {
		m := nemesis.When(1, env.StepAcquire, plus)
		m.Count = 2
		return m
	}
	answers := &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: s.majority()}, Way: nemesis.Replies}
	return nemesis.Plan{
		{Action: &nemesis.Pause{Client: 2}, Start: nemesis.At(0), End: new(call(s.ttl() / 4))},
		{Action: &nemesis.Pause{Client: 3}, Start: nemesis.At(0), End: new(call(s.ttl() / 4))},
		{Action: answers, Start: call(0), End: nemesis.After(s.ttl() / 2)},
		{Action: &nemesis.Cancel{Client: 1}, Start: call(s.ttl() / 200)},
	}
}

// long are storms of work that outlasts the TTL. Client 2 is kept away for the beginning, so
// that client 1 is granted the lock first.
func (s Subject) long() []locktest.Storm {
	ttl := s.ttl()
	late := nemesis.Fault{Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{2}}}, Start: nemesis.At(0), End: nemesis.After(ttl / 3)}
	list := []locktest.Storm{
		{Name: "long-work", Summary: "nothing goes wrong"},
		{Name: "long-work-clocks-ahead", Summary: "the clocks of all nodes are a TTL ahead of those of the clients, from the beginning and for good", Plan: s.ahead()},
		{
			Name: "holder-cut-off", Summary: "a holder reaches no node any more, for some TTLs",
			Plan: nemesis.Plan{late, {Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}}}, Start: nemesis.When(1, env.StepGranted, ttl/10), End: nemesis.After(3 * ttl)}},
		},
	}
	if s.Store != (locktest.Store{}) { // others watch the holder's record or entry there
		begin := nemesis.Fault{Action: late.Action, Start: late.Start, End: nemesis.After(ttl / 20)}
		list = append(list, locktest.Storm{
			Name: "holder-cut-off-later", Summary: "a holder reaches no node any more, for some TTLs, when another client has waited for a while", Work: ttl * 6, Rounds: 1,
			Plan: nemesis.Plan{begin, {Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}}}, Start: nemesis.When(1, env.StepGranted, ttl), End: nemesis.After(3 * ttl)}},
		})
	}
	if s.Nodes > 1 {
		list = append(list, locktest.Storm{
			Name: "holder-cut-off-from-one", Summary: "a holder cannot reach one of five nodes, for some TTLs",
			Plan: nemesis.Plan{late, {Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: []int{s.Nodes}}}, Start: nemesis.When(1, env.StepGranted, ttl/10), End: nemesis.After(3 * ttl)}},
		})
	}
	if s.Extends {
		list = append(list, locktest.Storm{
			Name: "extends-too-late", Summary: "a holder stands still when it is about to extend, until another has had the lock and released it",
			Plan: nemesis.Plan{late, {Action: &nemesis.Pause{Client: 1}, Start: nemesis.When(1, env.StepExtend, 0), End: new(nemesis.When(2, env.StepReleased, time.Millisecond))}},
		})
	}
	return list
}

// majority is as few nodes as are one.
func (s Subject) majority() (nodes []int) {
	for n := range s.Nodes/2 + 1 {
		nodes = append(nodes, n+1)
	}
	return nodes
}

// ahead sets the clocks of all nodes forward before anything is asked of them: it is not the
// jump that counts, but the difference.
func (s Subject) ahead() (plan nemesis.Plan) {
	for n := range s.Nodes {
		jump := &nemesis.ClockJump{Machine: nemesis.Machine{Node: n + 1}, By: s.ttl()}
		plan = append(plan, nemesis.Fault{Action: jump, Start: nemesis.At(0)})
	}
	return plan
}
