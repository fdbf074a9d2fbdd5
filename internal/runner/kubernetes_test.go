package runner_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// onLease is a scenario of clients that want the lock of client-go, with the proportions of its
// defaults: a lease of a second, a deadline of 665 ms, and a renewal every 133 ms.
func onLease(t *testing.T, clients ...scenarios.Client) scenarios.Scenario {
	s := inStore(t, "kubernetes-lease", clients...)
	s.Lock.DriftFactor, s.Lock.Heartbeat, s.Lock.Margin = 1.0/3, 133*ms, 0
	s.Lock.NodeTimeout, s.Lock.Retry = 333*ms, span(133*ms, 293*ms)
	s.Bounds.Acquire, s.Bounds.Extend, s.Bounds.Release = 3*time.Second, 3*time.Second, 3*time.Second
	return s
}

// longHolders are clients that hold the lock for 3 s each time, by turns.
func longHolders(n int) (clients []scenarios.Client) {
	for i := range n {
		at := time.Duration(i) * 100 * ms
		clients = append(clients, sections(3, span(at, at), span(3*time.Second, 3*time.Second), span(0, 0)))
	}
	return clients
}

// during is a fault on client 1 while it holds the lock for the first time.
func during(a nemesis.Action, after, lasts time.Duration) nemesis.Fault {
	return nemesis.Fault{Action: a, Start: nemesis.When(1, env.StepGranted, after), End: nemesis.After(lasts)}
}

// What client-go does not promise, or no longer keeps: each violation of lease exclusion disappears
// with its cause.
func TestWhatKubernetesLeaseDoesNotExclude(t *testing.T) {
	client1 := nemesis.Links{Clients: []int{1}}
	late := func(d time.Duration) nemesis.Action {
		return &nemesis.Latency{Links: client1, Way: nemesis.Replies, Add: nemesis.Distribution{Range: span(d, d)}}
	}
	away := during(&nemesis.Partition{Links: client1}, 1350*ms, 5*time.Second)
	eager := func(s *scenarios.Scenario) { s.Lock.Retry = span(5*ms, 10*ms) } // candidates
	for name, c := range map[string]struct {
		plan   nemesis.Plan
		change func(*scenarios.Scenario)
		want   checker.Verdict
	}{
		// The deadline is 333 + 133 + 665 ms after the record has changed.
		"a reply to a renewal takes 300 ms": {nemesis.Plan{during(late(300*ms), 900*ms, 300*ms), away}, eager, checker.Violated},
		"it takes 100 ms":                   {nemesis.Plan{during(late(100*ms), 900*ms, 300*ms), away}, eager, checker.Holds},
		"it takes 300 ms, and the deadline is earlier by so much": {nemesis.Plan{during(late(300*ms), 900*ms, 300*ms), away}, func(s *scenarios.Scenario) {
			eager(s)
			s.Lock.DriftFactor = 0.6
		}, checker.Holds},
		"the holder was away, and releases": {nemesis.Plan{during(&nemesis.Pause{Client: 1}, 2*time.Second, 3*time.Second)}, func(s *scenarios.Scenario) {
			s.Clients[0].Work, s.Clients[0].Rounds = span(2100*ms, 2100*ms), 1
		}, checker.Violated},
		"it was away, and renews first": {nemesis.Plan{during(&nemesis.Pause{Client: 1}, 2*time.Second, 3*time.Second)}, func(s *scenarios.Scenario) {
			s.Clients[0].Work, s.Clients[0].Rounds = span(6*time.Second, 6*time.Second), 1
		}, checker.Holds},
		"the holder's wall clock stands still": {nemesis.Plan{during(&nemesis.ClockFreeze{Machine: nemesis.Machine{Client: 1}}, 100*ms, 5*time.Second)}, nil, checker.Violated},
		"it is stepped":                        {nemesis.Plan{during(&nemesis.ClockJump{Machine: nemesis.Machine{Client: 1}, By: -time.Hour, Healing: nemesis.Healing{Heal: nemesis.HealStep}}, 100*ms, 5*time.Second)}, nil, checker.Holds},
		"the holder's machine sleeps":          {nemesis.Plan{during(&nemesis.Suspend{Client: 1}, 1200*ms, 3*time.Second)}, nil, checker.Violated},
		"it sleeps, on boottime": {nemesis.Plan{during(&nemesis.Suspend{Client: 1}, 1200*ms, 3*time.Second)}, func(s *scenarios.Scenario) {
			s.Lock.Clock = "boottime"
		}, checker.Holds},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onLease(t, longHolders(3)...)
			s.Guard, s.Plan = guard.Fenced, c.plan
			if c.change != nil {
				c.change(&s)
			}
			// The contract says that nobody else takes the record of a hold that goes on.
			wantVerdicts(t, runs(t, s, 30), verdicts{checker.Lease: c.want, checker.Contract: c.want, checker.Fence: checker.Holds, checker.Effect: checker.Holds})
		})
	}
}

// Law: in storms fences grow, and nobody is kept out for ever, as long as no client is late: see the
// promises in package hunt. Entries that tries leave behind are emptied.
func TestKubernetesLeaseInStorms(t *testing.T) {
	late := []nemesis.Kind{"pause", "suspend", "snapshot"}
	s := stormyStore(t, "kubernetes-lease", offRate, resurrected, late)
	lock := onLease(t).Lock
	lock.Clock = "boottime"
	s.Lock = lock
	never(t, runs(t, s, 60), checker.Fence, checker.DeadlockFreedom)
}
