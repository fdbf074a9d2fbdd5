package runner_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// oneKey are the locks that keep one key on one node.
var oneKey = []string{"check-then-set", "setnx-then-expire", "setnx-del", "get-then-del", "single-node"}

// onOneNode is a lock on node 1 of so many, some clients and a plan.
func onOneNode(t *testing.T, kind string, nodes int, clients []scenarios.Client, plan ...nemesis.Fault) scenarios.Scenario {
	calm := find(t, "calm")
	l := calm.Lock
	s := scenarios.Scenario{
		Name: "one-key", Setting: calm.Setting, Clients: clients,
		Lock: scenarios.Lock{Kind: kind, TTL: l.TTL, DriftFactor: l.DriftFactor, NodeTimeout: l.NodeTimeout, Margin: l.Margin, Retry: l.Retry},
	}
	s.Nodes, s.Plan, s.Horizon = nodes, plan, 5*time.Second
	return s
}

// oneSection is a client that does one section.
func oneSection(start, work time.Duration) scenarios.Client {
	exactly := func(d time.Duration) nemesis.Range { return nemesis.Range{Min: d, Max: d + 20*ms} }
	return scenarios.Client{Workload: "section", Resource: "r", Start: exactly(start), Work: exactly(work), Rounds: 1}
}

// contending are clients that want the lock again and again.
func contending(n int) (all []scenarios.Client) {
	for range n {
		all = append(all, scenarios.Client{
			Workload: "section", Resource: "r", Rounds: 10,
			Work: nemesis.Range{Min: 5 * ms, Max: 40 * ms}, Think: nemesis.Range{Max: 40 * ms},
		})
	}
	return all
}

// Three clients without faults: all of these locks exclude, except the one that checks first and
// sets then.
func TestOneKeyInTheCalm(t *testing.T) {
	for _, kind := range oneKey {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := onOneNode(t, kind, 1, contending(3))
			s.Horizon = time.Minute
			want := checker.Holds
			if kind == "check-then-set" {
				want = checker.Violated
			}
			tally := runs(t, s, 50)
			for _, p := range []checker.Property{checker.Lease, checker.Section} {
				if got := tally.Observed(p); got != want {
					t.Errorf("%s is %v, want %v: %s", p, got, want, story(tally))
				}
			}
		})
	}
}

// succession is a first client that is late with its release, because of a pause, a
// second that has got the lock by then, and a third that would like to.
func succession(work time.Duration) []scenarios.Client {
	return []scenarios.Client{oneSection(0, work), oneSection(980*ms, 700*ms), oneSection(1100*ms, 20*ms)}
}

// paused stops client 1 at a moment.
func paused(m nemesis.Trigger, length time.Duration) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Pause{Client: 1}, Start: m, End: nemesis.After(length)}
}

func kth(m nemesis.Trigger, k int) nemesis.Trigger {
	m.K = k
	return m
}

// The rows of the catalogue on what breaks lease exclusion of one key, each with a
// control that differs in the cause alone, and has the other verdict.
func TestWhatBreaksOneKey(t *testing.T) {
	late := paused(nemesis.When(1, env.StepBeforeWrite, 0), 1200*ms)
	gap := paused(kth(nemesis.When(1, env.StepReply, 0), 2), 300*ms)
	crash := nemesis.Fault{Action: &nemesis.Crash{Node: 1}, Start: soon, End: nemesis.After(0)}
	failover := nemesis.Fault{Action: &nemesis.Failover{Node: 1}, Start: soon, End: nemesis.After(0)}
	two := []scenarios.Client{oneSection(0, 800*ms), oneSection(100*ms, 20*ms)}
	racing := []scenarios.Client{oneSection(0, 50*ms), oneSection(100*ms, 300*ms)}
	looked := paused(kth(nemesis.When(1, env.StepReply, 0), 1), 200*ms)

	for _, c := range []struct {
		row     string
		run     scenarios.Scenario
		want    checker.Verdict
		cause   string
		control scenarios.Scenario
	}{
		{
			"check-then-set, a pause between", onOneNode(t, "check-then-set", 1, racing, looked), checker.Violated,
			"no pause", onOneNode(t, "check-then-set", 1, racing),
		},
		{
			"setnx-del, a late holder", onOneNode(t, "setnx-del", 1, succession(100*ms), late), checker.Violated,
			"no pause", onOneNode(t, "setnx-del", 1, succession(100*ms)),
		},
		{
			"setnx-then-expire, a late holder", onOneNode(t, "setnx-then-expire", 1, succession(100*ms), late), checker.Violated,
			"no pause", onOneNode(t, "setnx-then-expire", 1, succession(100*ms)),
		},
		{
			"get-then-del, the gap", onOneNode(t, "get-then-del", 1, succession(900*ms), gap), checker.Violated,
			"no pause", onOneNode(t, "get-then-del", 1, succession(900*ms)),
		},
		{
			"get-then-del, a late holder", onOneNode(t, "get-then-del", 1, succession(100*ms), late), checker.Holds,
			"plain DEL", onOneNode(t, "setnx-del", 1, succession(100*ms), late),
		},
		{
			"single-node, a late holder", onOneNode(t, "single-node", 1, succession(100*ms), late), checker.Holds,
			"plain DEL", onOneNode(t, "setnx-del", 1, succession(100*ms), late),
		},
		{
			"single-node, a pause in the release", onOneNode(t, "single-node", 1, succession(900*ms), gap), checker.Holds,
			"GET, then DEL", onOneNode(t, "get-then-del", 1, succession(900*ms), gap),
		},
		{
			"single-node that keeps its keys", changed(keeping(nemesis.Always), onOneNode(t, "single-node", 1, two, crash)), checker.Holds,
			"no persistence", changed(keeping(nemesis.Nothing), onOneNode(t, "single-node", 1, two, crash)),
		},
		{
			"failover", changed(replicating(100*ms), onOneNode(t, "single-node", 1, two, failover)), checker.Violated,
			"a replica that is nearly in step", changed(replicating(ms), onOneNode(t, "single-node", 1, two, failover)),
		},
	} {
		t.Run(c.row, func(t *testing.T) {
			t.Parallel()
			tally := runs(t, c.run, 50)
			if got := tally.Observed(checker.Lease); got != c.want {
				t.Errorf("%v: %s", got, story(tally))
			}
			if tally = runs(t, c.control, 50); (tally.Observed(checker.Lease) == checker.Violated) == (c.want == checker.Violated) {
				t.Errorf("with %s it is %v as well: %s", c.cause, c.want, story(tally))
			}
		})
	}
}

func changed(change func(*scenarios.Scenario), s scenarios.Scenario) scenarios.Scenario {
	change(&s)
	return s
}

// Law: no storm that leaves the node its keys and the clocks alone breaks a single
// node's lease exclusion. The same storms break setnx-del.
func TestSingleNodeInStorms(t *testing.T) {
	weights := nemesis.Weights{}
	for _, kind := range []nemesis.Kind{"crash", "power-loss", "shutdown", "pause", "kill", "partition", "latency", "loss", "reset", "node-pause", "node-error", "script-flush", "cancel", "bandwidth"} {
		weights[kind] = 1
	}
	weights["pause"] = 9 // what makes holders late
	storming := func(kind string) scenarios.Scenario {
		var clients []scenarios.Client
		for range 3 {
			c := scenarios.Client{Workload: "section", Resource: "r", Rounds: 8, ExtendEvery: 300 * ms}
			c.Work, c.Think = nemesis.Range{Min: 50 * ms, Max: 900 * ms}, nemesis.Range{Max: 100 * ms}
			clients = append(clients, c)
		}
		s := onOneNode(t, kind, 1, clients)
		s.Persistence, s.Horizon = nemesis.Always, time.Minute
		return changed(func(s *scenarios.Scenario) { s.Generate = &nemesis.Generator{Faults: weights, Most: 15} }, s)
	}
	if tally := runs(t, storming("single-node"), 200); tally.Seen[checker.Lease][checker.Violated] > 0 {
		t.Errorf("single-node: %s", story(tally))
	}
	if got := runs(t, storming("setnx-del"), 200).Observed(checker.Lease); got != checker.Violated {
		t.Errorf("setnx-del is %v", got)
	}
}

// A single node's lock is gone with the node, though all others are there; Redlock's
// is not.
func TestFaultToleranceOfOneKey(t *testing.T) {
	dead := nemesis.Fault{Action: &nemesis.Crash{Node: 1}, Start: nemesis.At(0)}
	s := onOneNode(t, "single-node", 5, []scenarios.Client{oneSection(50*ms, 20*ms)}, dead)
	s.Bounds.Tries = 3
	if got := runs(t, s, 20).Observed(checker.FaultTolerance); got != checker.Violated {
		t.Errorf("single-node: %v", got)
	}
	s.Lock.Kind = "redlock"
	if got := runs(t, s, 20).Observed(checker.FaultTolerance); got != checker.Holds {
		t.Errorf("redlock: %v", got)
	}
}

// Without a time to live a lock is gone with its holder: nobody gets it any more.
// With one it comes back.
func TestKeysThatStayForEver(t *testing.T) {
	killed := func(m nemesis.Trigger) nemesis.Fault {
		return nemesis.Fault{Action: &nemesis.Kill{Client: 1}, Start: m}
	}
	clients := []scenarios.Client{oneSection(0, 50*ms), oneSection(100*ms, 20*ms)}
	between := kth(nemesis.When(1, env.StepReply, 0), 1)
	for _, c := range []struct {
		kind   string
		dies   nemesis.Trigger
		grants int
	}{
		{"setnx-then-expire", between, 0},
		{"setnx-then-expire", kth(nemesis.When(1, env.StepReply, 0), 2), 1},
		{"setnx-del", between, 1},
		{"check-then-set", nemesis.When(1, env.StepGranted, 0), 0},
		{"single-node", between, 1},
	} {
		s := onOneNode(t, c.kind, 1, clients, killed(c.dies))
		s.Horizon = time.Minute
		if grants := measure(t, s, 20).grants; grants != 20*c.grants {
			t.Errorf("%s, client 1 dies at %s %d: %d grants in 20 runs, want %d in each", c.kind, c.dies.Step, c.dies.K, grants, c.grants)
		}
	}
}

func replicating(lag time.Duration) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) {
		s.Replication = &nemesis.Distribution{Range: nemesis.Range{Min: lag, Max: lag}}
	}
}

func keeping(p nemesis.Persistence) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) { s.Persistence = p }
}
