package runner_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// busy is a scenario of two clients who want the lock all the time, in a storm
// of some kinds of faults.
func busy(t *testing.T, most int, kinds ...nemesis.Kind) scenarios.Scenario {
	s := find(t, "calm")
	s.Name = "busy"
	s.Horizon = 60 * time.Second
	span := nemesis.Range{Min: 50 * ms, Max: 900 * ms}
	c := scenarios.Client{Workload: "section", Resource: "r", Work: span, Think: nemesis.Range{Max: 100 * ms}, Rounds: 20}
	s.Clients = []scenarios.Client{c, c}
	s.Bounds.Cleanup = 0 // of no interest here
	weights := nemesis.Weights{}
	for _, kind := range kinds {
		weights[kind] = 1
	}
	return runner.WithGenerator(s, nemesis.Generator{Faults: weights, Most: most})
}

// Law: with a quarantine as long as the longest TTL, no node that restarts breaks
// lease exclusion, whatever it has lost and however soon it is back. Without it
// each of these does.
func TestQuarantineClosesRestarts(t *testing.T) {
	for _, c := range []struct {
		kind        nemesis.Kind
		persistence nemesis.Persistence
	}{
		{"crash", nemesis.Nothing}, {"shutdown", nemesis.Nothing}, {"power-loss", nemesis.EverySecond},
		{"old-snapshot", nemesis.Always}, {"failover", nemesis.Always},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			t.Parallel()
			s := busy(t, 20, c.kind)
			s.Persistence = c.persistence
			s.Replication = upTo(100 * ms)
			if !violates(t, s, checker.Lease, 30) {
				t.Errorf("no run of 30 violates lease exclusion by a %s without a quarantine: then the other half of this test shows nothing", c.kind)
			}
			s.Lock.Quarantine = s.Lock.TTL
			if tally := runs(t, s, 30); tally.Seen[checker.Lease][checker.Violated] > 0 {
				t.Errorf("a quarantine as long as the TTL does not help against a %s: %s", c.kind, story(tally))
			}
		})
	}
}

// An extension relies on a key that was voted for in the run of the node that still has it: what sets
// the key again in a later run may have taken the place of another client's vote.
func TestQuarantineOfCopiedSet(t *testing.T) {
	s, err := scenarios.Load("testdata/quarantine-copied-set.yaml", func(scenarios.Scenario) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.Run(t.Context(), simulator, s, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []checker.Property{checker.Lease, checker.Backing} {
		if f := r.Report.Finding(p); f.Verdict != checker.Holds {
			t.Errorf("%s %v: %s", p, f.Verdict, f.Story())
		}
	}
	s.Lock.Quarantine = 0
	if !violates(t, s, checker.Lease, 1) {
		t.Error("lease exclusion holds without a quarantine: the run shows nothing")
	}
}

var costRuns = flag.Int("runs", 15, "how many runs of each kind the cost of a quarantine is measured in")

// The cost of the quarantine: a restarted node is missing for longer, and at the start of a run,
// when no node is known, all are. It is logged; docs/redlock.md has the figures of more runs.
func TestCostOfQuarantine(t *testing.T) {
	n := *costRuns
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "RESTARTS\tQUARANTINE\tV1 VIOLATED\tTRIES PER GRANT\tLONGEST OUTAGE: MEDIAN\t90 %\t99 %")
	for _, most := range []int{0, 5, 20} {
		for _, quarantine := range []time.Duration{0, time.Second, 5 * time.Second} {
			s := busy(t, max(most, 1), "crash")
			if most == 0 {
				s.Generate = nil
			}
			s.Lock.Quarantine = quarantine
			m := measure(t, s, n)
			_, _ = fmt.Fprintf(w, "up to %d\t%v\t%d/%d\t%.2f\t%v\t%v\t%v\n", most, quarantine, m.violated, n, m.triesPerGrant(), m.outage(50), m.outage(90), m.outage(99))
			if quarantine > 0 && m.violated > 0 || quarantine == 0 && most == 20 && m.violated == 0 {
				t.Errorf("up to %d restarts with a quarantine of %v: %d of %d runs violate lease exclusion, want none with a quarantine, and some without when there are 20", most, quarantine, m.violated, n)
			}
		}
	}
	_ = w.Flush()
	t.Logf("%d runs each, of two clients who want one lock with a TTL of 1s\n%s", n, table.String())
}

// measured is what many runs of a scenario measure.
type measured struct {
	violated      int // runs that violate lease exclusion
	tries, grants int
	outages       []time.Duration // the longest of each run, in order
}

func measure(t *testing.T, s scenarios.Scenario, n int) (m measured) {
	t.Helper()
	_, err := runner.Batch{Experiment: prepared(t, simulator, s), First: 1, Runs: n, Each: func(r runner.Result) {
		if r.Report.Finding(checker.Lease).Verdict == checker.Violated {
			m.violated++
		}
		m.tries += r.Report.Measurements.Tries
		m.grants += r.Report.Measurements.Grants
		m.outages = append(m.outages, r.Report.Measurements.LongestOutage)
	}}.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(m.outages)
	return m
}

func (m measured) triesPerGrant() float64 { return float64(m.tries) / float64(m.grants) }

func (m measured) outage(percent int) time.Duration {
	return m.outages[len(m.outages)*percent/100].Round(ms)
}

// drawing makes a scenario's lock draw fences from nodes that keep their counters,
// and the guarded resource check them on reads and writes.
func drawing(s scenarios.Scenario) scenarios.Scenario {
	s.Persistence, s.Guard = nemesis.Always, guard.Fenced
	s.Lock.Fence, s.Lock.Clock = "quorum", "boottime"
	return s
}

// Law: fences that the lock draws grow as long as nodes forget nothing, and the
// resource sees its sections one after another.
func TestFencesGrowWhileNothingIsForgotten(t *testing.T) {
	s := drawing(busy(t, 20, "pause", "kill", "partition", "latency", "loss", "reset", "suspend", "node-pause",
		"crash", "power-loss", "shutdown", "script-flush", "node-error"))
	wantVerdicts(t, runs(t, s, 40), map[checker.Property]checker.Verdict{
		checker.Lease: checker.Holds, checker.Fence: checker.Holds, checker.Effect: checker.Holds,
	})
}

// Law: the resource is safe even where the lock is not: where nodes lose keys, but
// not counters, and clocks jump.
func TestFencesProtectWhereTheLockDoesNot(t *testing.T) {
	tally := runs(t, drawing(busy(t, 20, "pause", "evict", "clock-jump", "snapshot")), 100)
	wantVerdicts(t, tally, map[checker.Property]checker.Verdict{checker.Lease: checker.Violated, checker.Effect: checker.Holds})
}

// Law: over any network, a holder with a watchdog excludes others while it works, and is notified
// before another client can be granted the lock.
func TestWatchdogOverBadNetworks(t *testing.T) {
	s := busy(t, 20, "partition", "latency", "loss", "reset", "bandwidth")
	s.Lock.Watchdog.Every = s.Lock.TTL / 3
	for i := range s.Clients {
		s.Clients[i].Workload, s.Clients[i].Work.Max = "hold", 3*time.Second
	}
	wantVerdicts(t, runs(t, s, 25), map[checker.Property]checker.Verdict{
		checker.Lease: checker.Holds, checker.Section: checker.Holds, checker.Contract: checker.Holds,
	})
}
