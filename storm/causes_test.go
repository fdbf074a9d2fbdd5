package storm_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// caused are the properties that a scenario breaks by what it does to the world.
var caused = []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Fence, checker.DeadlockFreedom, checker.FaultTolerance}

// cure takes away what a scenario's violations come from.
type cure struct {
	why   string
	apply func(s *scenarios.Scenario)
}

// cures are for the scenarios whose violations come from something else than a
// fault of the plan.
var cures = map[string]cure{
	"fence-increment":     {"the counters of a quorum are raised to one number", drawingFrom("quorum")},
	"fence-one-node-down": {"the counters of a quorum", drawingFrom("quorum")},
}

// Law: the verdict follows the cause. What a scenario of the table violates holds
// once its faults are taken away, or what else causes it.
func TestVerdictFollowsTheCause(t *testing.T) {
	for _, s := range scenarios.All() {
		broken := breaks(s)
		if len(broken) == 0 {
			continue
		}
		c, listed := cures[s.Name]
		if !listed {
			c = cure{"no fault", dropFaults}
		}
		t.Run(s.Name+", "+c.why, func(t *testing.T) {
			t.Parallel()
			c.apply(&s)
			wantCured(t, s, broken)
		})
	}
	for name := range cures {
		if len(breaks(find(t, name))) == 0 {
			t.Errorf("there is a cure for %s, which breaks nothing", name)
		}
	}
}

// breaks returns what a scenario expects to be violated.
func breaks(s scenarios.Scenario) (broken []checker.Property) {
	for _, p := range caused {
		if s.Expect[p] == checker.Violated {
			broken = append(broken, p)
		}
	}
	return broken
}

// wantCured checks that the properties hold in every run, and that there is
// something to judge.
func wantCured(t *testing.T, s scenarios.Scenario, properties []checker.Property) {
	t.Helper()
	wantHolds(t, simulator, s, 50, properties)
}

// dropFaults leaves of the plan only what shapes the world.
func dropFaults(s *scenarios.Scenario) {
	s.Plan = slices.DeleteFunc(slices.Clone(s.Plan), func(f nemesis.Fault) bool { return !shapes(f) })
}

// shapes reports whether a fault is part of the world and not something that
// happens in it: a partition from the beginning to the end, by which a client holds
// the lock on a bare majority. By itself it breaks nothing.
func shapes(f nemesis.Fault) bool {
	_, partition := f.Action.(*nemesis.Partition)
	return partition && f.Start == nemesis.At(0) && f.End == nil
}

// drop takes one fault of the plan away.
func drop(fault int) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) {
		s.Plan = slices.Delete(slices.Clone(s.Plan), fault, fault+1)
	}
}

// act puts another action in the place of a fault's.
func act(fault int, a nemesis.Action) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) {
		s.Plan = slices.Clone(s.Plan)
		s.Plan[fault].Action = a
	}
}

// last makes a fault end so long after its start.
func last(fault int, length time.Duration) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) {
		s.Plan = slices.Clone(s.Plan)
		s.Plan[fault].End = nemesis.After(length)
	}
}

func keeping(p nemesis.Persistence) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) { s.Persistence = p }
}

// Of several things that a violation needs each can be taken away alone.
func TestEachCauseAlone(t *testing.T) {
	for _, c := range []struct {
		scenario, cure string
		apply          func(s *scenarios.Scenario)
	}{
		{"crash-restart", "a node that keeps its keys", keeping(nemesis.Always)},
		{"crash-restart", "a restart after the TTL", last(1, 1100*ms)},
		{"crash-restart", "a holder whose quorum is not bare", drop(0)},
		{"node-clock-jump", "a jump by less than what is left", act(1, &nemesis.ClockJump{Machine: node3, By: 50 * ms})},
		{"node-clock-back-undone", "a clock that is put right slowly", act(1, &nemesis.ClockJump{Machine: node3, By: -2 * time.Second, Healing: bySlew})},
		{"frozen-clock-thaws", "a clock that goes on from where it stood", act(1, &nemesis.ClockFreeze{Machine: node3})},
		{"frozen-clock-thaws", "a clock that catches up slowly", act(1, &nemesis.ClockFreeze{Machine: node3, Healing: bySlew})},
		{"frozen-clock-majority", "a holder who lives", drop(3)},
		{"frozen-clock-majority", "a minority of clocks", drop(0)},
		{"leap-second-stepped", "a smeared second", smear},
		{"clock-drift-beyond", "an allowance that covers it", func(s *scenarios.Scenario) { s.Lock.DriftFactor = 0.05 }},
		{"client-wall-step", "the monotonic clock", func(s *scenarios.Scenario) { s.Lock.Clock = "" }},
		{"client-wall-step-acquiring", "the monotonic clock", func(s *scenarios.Scenario) { s.Lock.Clock = "" }},
		{"client-suspend", "a sleep that ends within the validity", last(0, 500*ms)},
		{"client-suspend-snapshot", "a restoration within the validity", last(0, 500*ms)},
		{"delayed-restart-jump", "no jump", drop(2)},
		{"aof-everysec", "a process that dies, and not its machine", act(1, &nemesis.Crash{Node: 3})},
		{"aof-everysec", "a disk that is synced at once", keeping(nemesis.Always)},
		{"aof-everysec-extension", "a disk that is synced at once", keeping(nemesis.Always)},
		{"evicted-key", "a node that has no key", act(1, &nemesis.Evict{Node: 5})},
		{"rdb-restart", "a snapshot of just now", act(1, &nemesis.OldSnapshot{Node: 3, Age: ms})},
		{"failover", "a replica that is nearly in step", func(s *scenarios.Scenario) { s.Replication = upTo(ms) }},
		{"fence-after-loss", "a node that keeps its counter", keeping(nemesis.Always)},
		{"fence-one-node-lost", "a node that keeps its counter", keeping(nemesis.Always)},
		{"fence-one-node-lost", "the counters of a quorum", drawingFrom("quorum")},
		{"fence-one-node-down", "the counters of all nodes", drawingFrom("increment")},
		{"fence-increment", "quorums that are one", dropAll},
		{"fenced-writes-only", "a holder who is done before the other begins", last(0, 300*ms)},
		{"pause-after-step-3", "a pause that ends within the validity", last(0, 300*ms)},
	} {
		t.Run(c.scenario+", "+c.cure, func(t *testing.T) {
			t.Parallel()
			s := find(t, c.scenario)
			broken := breaks(s)
			if len(broken) == 0 {
				t.Fatal("it breaks nothing")
			}
			c.apply(&s)
			wantCured(t, s, broken)
		})
	}
}

func drawingFrom(source string) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) { s.Lock.Fence = source }
}

func dropAll(s *scenarios.Scenario) { s.Plan = nil }

func doing(workload string) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) {
		s.Clients = slices.Clone(s.Clients)
		for i := range s.Clients {
			s.Clients[i].Workload = workload
		}
	}
}

func guardedBy(mode guard.Mode) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) { s.Guard = mode }
}

// smear spreads the steps of all clocks over a day.
func smear(s *scenarios.Scenario) {
	s.Plan = slices.Clone(s.Plan)
	for i, f := range s.Plan {
		j := f.Action.(*nemesis.ClockJump)
		s.Plan[i].Action = &nemesis.ClockSlew{Machine: j.Machine, By: j.By, PPM: 12}
	}
}

// rivals are the clients of crash-restart.
func rivals(t *testing.T) []scenarios.Client { return find(t, "crash-restart").Clients }

// section makes clients of the same times that look at nothing while they work.
func section(clients []scenarios.Client) []scenarios.Client {
	clients = slices.Clone(clients)
	for i := range clients {
		clients[i].Workload = "section"
	}
	return clients
}

// And what a scenario shows to hold does not hold without what it rests on.
func TestHoldingScenariosCanFail(t *testing.T) {
	cases := []struct {
		scenario string
		damage   string
		apply    func(s *scenarios.Scenario)
		property checker.Property
	}{
		{"delayed-restart", "no delay", last(1, 0), checker.Lease},
		{"majority-crash", "no delay", func(s *scenarios.Scenario) {
			for i := range s.Plan {
				last(i, 0)(s)
			}
		}, checker.Lease},
		{"node-pause", "a node that dies", act(1, &nemesis.Crash{Node: 3}), checker.Lease},
		{"aof-always", "no persistence", keeping(nemesis.Nothing), checker.Lease},
		{"clean-shutdown", "no persistence", keeping(nemesis.Nothing), checker.Lease},
		{"node-clock-back", "a step forward", act(1, &nemesis.ClockJump{Machine: node3, By: 2 * time.Second}), checker.Lease},
		{"node-clock-back-orphan", "a clock that stands still", act(2, &nemesis.ClockFreeze{Machine: node3}), checker.DeadlockFreedom},
		{"leap-second-stepped-early", "a TTL of a second", func(s *scenarios.Scenario) { s.Lock.TTL = time.Second }, checker.Lease},
		{"leap-second-inserted", "a second left out", leap(time.Second), checker.Lease},
		{"leap-second-smeared", "a second left out at once", leap(time.Second), checker.Lease},
		{"frozen-clock", "a majority of frozen clocks", func(s *scenarios.Scenario) {
			s.Plan = append(slices.Clone(s.Plan), freeze(1), freeze(2))
		}, checker.DeadlockFreedom},
		{"client-wall-step-forward", "a step back", act(1, &nemesis.ClockJump{Machine: holder, By: -1500 * ms}), checker.Lease},
		{"client-wall-step-monotonic", "the wall clock", func(s *scenarios.Scenario) { s.Lock.Clock = "wall" }, checker.Lease},
		{"clock-drift", "no allowance but the 2 ms", func(s *scenarios.Scenario) { s.Lock.DriftFactor = 0 }, checker.Lease},
		{"fenced-write", "a fence that is checked nowhere", guardedBy(guard.Plain), checker.Effect},
		{"fenced-write-checked", "a fence that is checked nowhere", guardedBy(guard.Plain), checker.Effect},
		{"fenced-write-delayed", "a fence that is checked nowhere", guardedBy(guard.Plain), checker.Effect},
		{"token-check-and-set", "a token that is checked nowhere", guardedBy(guard.Plain), checker.Effect},
		{"token-check-and-set-late-read", "a token that is checked nowhere", guardedBy(guard.Plain), checker.Effect},
		{"fence-one-node", "a fence that is checked nowhere", guardedBy(guard.Plain), checker.Effect},
		{"check-then-write-after-read", "a section that looks at no clock", doing("section"), checker.Effect},
		{"quarantine", "no quarantine", func(s *scenarios.Scenario) {
			s.Lock.Quarantine = 0
			s.Clients = rivals(t)
		}, checker.Lease},
		{"client-suspend-counted", "the monotonic clock", func(s *scenarios.Scenario) { s.Lock.Clock = "monotonic" }, checker.Lease},
		{"watchdog", "no watchdog", func(s *scenarios.Scenario) { s.Lock.Watchdog.Every = 0 }, checker.Effect},
		{"watchdog", "a limit", func(s *scenarios.Scenario) { s.Lock.Watchdog.Limit = 2 }, checker.Effect},
		{"watchdog-cut-off", "a holder who does not listen", func(s *scenarios.Scenario) { s.Clients = section(s.Clients) }, checker.Effect},
		{"fence-from-redlock", "a fence that is checked nowhere", guardedBy(guard.Plain), checker.Effect},
		{"fence-from-redlock", "no fence", func(s *scenarios.Scenario) { s.Lock.Fence = "" }, checker.Effect},
		{"split-vote-jitter-50ms", "a fixed delay", func(s *scenarios.Scenario) { s.Lock.Retry.Min = s.Lock.Retry.Max }, checker.DeadlockFreedom},
	}
	for _, c := range cases {
		t.Run(c.scenario+", "+c.damage, func(t *testing.T) {
			t.Parallel()
			s := find(t, c.scenario)
			c.apply(&s)
			if got := runs(t, s, 50).Observed(c.property); got != checker.Violated {
				t.Errorf("%s is %v", c.property, got)
			}
		})
	}
}

var node3 = nemesis.Machine{Node: 3}

func freeze(node int) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.ClockFreeze{Machine: nemesis.Machine{Node: node}}, Start: nemesis.At(0)}
}

// leap makes each node's clock step, in the place of what the plan does to it.
func leap(by time.Duration) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) {
		s.Plan = slices.Clone(s.Plan)
		for i := range s.Plan {
			s.Plan[i].Action = &nemesis.ClockJump{Machine: nemesis.Machine{Node: i + 1}, By: by}
		}
	}
}
