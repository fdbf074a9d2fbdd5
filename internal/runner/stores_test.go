package runner_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// inStore is a scenario of clients who want a lock that lives in a store of three
// nodes, with a TTL of a second.
func inStore(t *testing.T, kind string, clients ...scenarios.Client) scenarios.Scenario {
	s := find(t, "calm")
	s.Name, s.Expect = "in-store", nil
	s.Lock.Kind, s.Lock.Linger = kind, 0
	if slices.Contains(append([]string{"etcd-unchecked"}, sessionLocks...), kind) {
		s.Lock.Heartbeat = 300 * ms
	}
	s.Clients = clients
	s.Nodes, s.Persistence = 3, nemesis.Always
	s.Store = &nemesis.Store{
		Election: nemesis.Distribution{Range: nemesis.Range{Min: 100 * ms, Max: 200 * ms}},
		Commit:   nemesis.Distribution{Range: nemesis.Range{Min: ms, Max: 3 * ms}},
	}
	s.Horizon = 60 * time.Second
	s.Bounds = history.Bounds{Acquire: 400 * ms, Extend: 200 * ms, Release: 200 * ms, Grant: 3 * time.Second}
	return s
}

// sessionLocks are the locks on sessions, storeLocks all locks in a store, except the broken one.
var (
	sessionLocks = []string{"zookeeper", "etcd", "chubby", "fenced"}
	storeLocks   = append([]string{"database-row", "expiring-key"}, sessionLocks...)
)

// spins reports whether the lock retries after a delay, and is never woken.
func spins(kind string) bool { return kind == "database-row" || kind == "expiring-key" }

func each(t *testing.T, kinds []string, test func(t *testing.T, kind string)) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, kind)
		})
	}
}

func span(lo, hi time.Duration) nemesis.Range { return nemesis.Range{Min: lo, Max: hi} }

// sections is a client that does so many sections.
func sections(rounds int, start, work, think nemesis.Range) scenarios.Client {
	return scenarios.Client{Workload: "section", Resource: "r", Start: start, Work: work, Think: think, Rounds: rounds}
}

// busySections are three of them.
func busySections() []scenarios.Client {
	c := sections(10, span(0, 0), span(5*ms, 50*ms), span(0, 50*ms))
	return []scenarios.Client{c, c, c}
}

// holderAndRivals are a client that works for 300 ms under the lock, and others
// that want it meanwhile, each once.
func holderAndRivals(rivals int) []scenarios.Client {
	clients := []scenarios.Client{sections(1, span(0, 0), span(300*ms, 300*ms), span(0, 0))}
	for range rivals {
		clients = append(clients, sections(1, span(100*ms, 200*ms), span(20*ms, 50*ms), span(0, 0)))
	}
	return clients
}

type verdicts = map[checker.Property]checker.Verdict

func TestStoreLocksInTheCalm(t *testing.T) {
	each(t, append([]string{"etcd-unchecked"}, storeLocks...), func(t *testing.T, kind string) {
		tally := runs(t, inStore(t, kind, busySections()...), 30)
		wantVerdicts(t, tally, verdicts{
			checker.Lease: checker.Holds, checker.Section: checker.Holds, checker.Effect: checker.Holds,
			checker.Fence: checker.Holds, checker.Contract: checker.Holds, checker.DeadlockFreedom: checker.Holds,
		})
	})
}

// pausedHolder stands still, for so long, when it has read.
func pausedHolder(d time.Duration) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Pause{Client: 1}, Start: nemesis.When(1, env.StepAfterRead, 0), End: nemesis.After(d)}
}

// A holder who outlasts its lease: the lock cannot help it, the fence can.
func TestStoreLocksAndAPausedHolder(t *testing.T) {
	each(t, storeLocks, func(t *testing.T, kind string) {
		s := inStore(t, kind, holderAndRivals(1)...)
		s.Plan = nemesis.Plan{pausedHolder(4 * time.Second)}
		for mode, effect := range map[guard.Mode]checker.Verdict{guard.Plain: checker.Violated, guard.Fenced: checker.Holds} {
			s.Guard = mode
			wantVerdicts(t, runs(t, s, 30), verdicts{
				checker.Lease: checker.Holds, checker.Section: checker.Violated, checker.Effect: effect, checker.Fence: checker.Holds,
			})
		}
	})
}

// A holder dies: the next has the lock when the TTL has passed, and soon after.
func TestStoreLocksAndADeadHolder(t *testing.T) {
	each(t, storeLocks, func(t *testing.T, kind string) {
		s := inStore(t, kind, holderAndRivals(2)...)
		s.Plan = nemesis.Plan{{Action: &nemesis.Kill{Client: 1}, Start: nemesis.When(1, env.StepAfterRead, 50*ms)}}
		log := record(t, s)
		died, granted := times(log, history.Kill)[0], times(log, history.Granted)
		if len(granted) != 3 || granted[1].Sub(died) < 700*ms || granted[1].Sub(died) > 1200*ms {
			t.Errorf("%s: the holder died at %v; want each of the two others to be granted the lock, the first when the session of the dead one is over, 0.7 to 1.2 s later; grants were at %v", kind, died, granted)
		}
	})
}

// woken counts the notifications of clients that it may be their turn, and the releases.
func woken(log history.Log) (woken, released int) {
	for _, e := range log {
		if e.Kind == history.Step && e.Name == env.StepWoken.String() {
			woken++
		}
	}
	return woken, len(times(log, history.Released))
}

// A client that waits for the entry before its own is woken alone; clients that wait for the one
// node are woken together; clients that spin are never woken.
func TestClientsWokenPerRelease(t *testing.T) {
	for kind, want := range map[string]int{"zookeeper": 4, "etcd": 4, "fenced": 4, "chubby": 4 + 3 + 2 + 1, "database-row": 0, "expiring-key": 0} {
		s := inStore(t, kind, holderAndRivals(4)...)
		if woken, released := woken(record(t, s)); woken != want || released != 5 {
			t.Errorf("%s: with five clients in line, %d releases woke %d clients, want 5 and %d", kind, released, woken, want)
		}
	}
}

// crash takes the node down that leads at first.
func crash(start nemesis.Trigger, d time.Duration) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Crash{Node: 1}, Start: start, End: nemesis.After(d)}
}

// finished is that every round of every client was granted, which takes that nobody
// is in anybody's way for ever.
func finished(t *testing.T, s scenarios.Scenario, n int) {
	t.Helper()
	rounds := 0
	for _, c := range s.Clients {
		rounds += c.Rounds
	}
	eachRun(t, s, n, func(r runner.Result) {
		if m := r.Report.Measurements; m.Grants != rounds {
			t.Errorf("seed %d: %d grants, want %d", r.Seed, m.Grants, rounds)
		}
	})
}

func eachRun(t *testing.T, s scenarios.Scenario, n int, each func(runner.Result)) {
	t.Helper()
	if _, err := (runner.Batch{Experiment: prepared(t, simulator, s), First: 1, Runs: n, Each: each}).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// The leader crashes at each step of a try, and between a create and its reply:
// the lock is as safe as before, and everybody gets it in the end.
func TestStoreLocksAndALostLeader(t *testing.T) {
	each(t, storeLocks, func(t *testing.T, kind string) {
		s := inStore(t, kind, busySections()...)
		for _, step := range []env.Step{env.StepBeforeSend, env.StepBeforeCheck, env.StepGranted, env.StepQueued, env.StepBeforeRelease} {
			if spins(kind) && step == env.StepQueued {
				continue
			}
			for _, plus := range []time.Duration{0, 2 * ms, 4 * ms} {
				s.Plan = nemesis.Plan{crash(nemesis.When(2, step, plus), 800*ms)}
				tally := runs(t, s, 10)
				wantVerdicts(t, tally, verdicts{checker.Lease: checker.Holds, checker.Fence: checker.Holds})
				finished(t, s, 10)
			}
		}
	})
}

// With delayed replies, an entry whose creation was not answered is found again, or deleted, and
// blocks nobody for the lifetime of a session.
func TestStoreLocksAndLostReplies(t *testing.T) {
	each(t, storeLocks, func(t *testing.T, kind string) {
		s := inStore(t, kind, busySections()...)
		for _, d := range []time.Duration{20 * ms, 100 * ms, 600 * ms, 3 * time.Second} {
			for _, way := range []nemesis.Direction{nemesis.Replies, nemesis.Requests} {
				cut := &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}}, Way: way}
				s.Plan = nemesis.Plan{{Action: cut, Start: nemesis.When(1, env.StepBeforeSend, 0), End: nemesis.After(d)}}
				wantVerdicts(t, runs(t, s, 10), verdicts{checker.Lease: checker.Holds, checker.Fence: checker.Holds})
				finished(t, s, 10)
				eachRun(t, s, 10, func(r runner.Result) {
					if out := r.Report.Measurements.LongestOutage; out > d+1500*ms {
						t.Errorf("replies away for %v, seed %d: nobody had the lock for %v", d, r.Seed, out)
					}
				})
			}
		}
	})
}

// A client is not answered any more, though all that it asks reaches the store: its
// heartbeats must not keep for ever what it does not know that it has.
func TestStoreLocksAndAClientThatHearsNothing(t *testing.T) {
	each(t, storeLocks, func(t *testing.T, kind string) {
		for _, step := range []env.Step{env.StepBeforeSend, env.StepQueued, env.StepAfterRead, env.StepBeforeRelease} {
			s := inStore(t, kind, busySections()...)
			s.Plan = nemesis.Plan{{Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}}, Way: nemesis.Replies}, Start: nemesis.When(1, step, 0)}}
			for seed := range uint64(10) {
				grants := 0
				for _, e := range recordSeed(t, s, seed) {
					if e.Kind == history.Granted && e.Client != 1 {
						grants++
					}
				}
				if grants != 20 {
					t.Errorf("from %v on, seed %d: the others were granted it %d times of 20", step, seed, grants)
				}
			}
		}
	})
}

// A client is paused while it waits, for longer than its session lasts. When it resumes it learns
// that its predecessor's entry is gone, and so is its own.
func TestSessionThatEndsInTheWait(t *testing.T) {
	for kind, want := range map[string]checker.Verdict{"etcd": checker.Holds, "etcd-unchecked": checker.Violated} {
		s := inStore(t, kind,
			sections(1, span(0, 0), span(2*time.Second, 2*time.Second), span(0, 0)),
			sections(1, span(100*ms, 100*ms), span(300*ms, 300*ms), span(0, 0)),
			sections(1, span(1500*ms, 1500*ms), span(900*ms, 900*ms), span(0, 0)))
		pause := nemesis.Fault{Action: &nemesis.Pause{Client: 2}, Start: nemesis.When(2, env.StepQueued, 10*ms), End: nemesis.After(2100 * ms)}
		s.Plan = nemesis.Plan{pause}
		if got := runs(t, s, 30).Observed(checker.Lease); got != want {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
		s.Plan = nil
		if got := runs(t, s, 30).Observed(checker.Lease); got != checker.Holds {
			t.Errorf("%s without a pause: %v", kind, got)
		}
	}
}

// Nobody leads for longer than the local lease lasts. Within the grace period the
// hold goes on when somebody does; without one, and after it, it is lost.
func TestChubbyJeopardy(t *testing.T) {
	for _, c := range []struct {
		grace, outage time.Duration
		kept          bool
	}{{3 * time.Second, 2 * time.Second, true}, {0, 2 * time.Second, false}, {3 * time.Second, 5 * time.Second, false}} {
		s := inStore(t, "chubby", scenarios.Client{Workload: "hold", Resource: "r", Work: span(8*time.Second, 8*time.Second), Rounds: 1})
		s.Lock.Grace = c.grace
		down := nemesis.When(1, env.StepGranted, 500*ms)
		s.Plan = nemesis.Plan{crash(down, c.outage), {Action: &nemesis.Crash{Node: 2}, Start: down, End: nemesis.After(c.outage)}}
		for seed := range uint64(20) {
			log := recordSeed(t, s, seed)
			expiring, lost, end := len(times(log, history.Expiring)), len(times(log, history.Lost)), log[len(log)-1].Time
			if expiring != 1 || (lost == 0) != (c.kept || c.grace == 0) || (end.Sub(0) > 8*time.Second) != c.kept {
				t.Errorf("grace %v, outage %v, seed %d: told %d times that it expires, %d times that it is lost; over at %v", c.grace, c.outage, seed, expiring, lost, end)
			}
		}
	}
}

// A lock-delay keeps others away from what a holder may still do, for so long.
func TestLockDelay(t *testing.T) {
	for _, c := range []struct {
		delay, pause time.Duration
		effect       checker.Verdict
	}{{0, 1800 * ms, checker.Violated}, {2 * time.Second, 1800 * ms, checker.Holds}, {2 * time.Second, 4 * time.Second, checker.Violated}} {
		s := inStore(t, "chubby", holderAndRivals(1)...)
		s.Lock.LockDelay = c.delay
		s.Plan = nemesis.Plan{pausedHolder(c.pause)}
		wantVerdicts(t, runs(t, s, 30), verdicts{checker.Lease: checker.Holds, checker.Effect: c.effect, checker.Fence: checker.Holds})
	}
}

// A database whose replica lags loses rows at a failover, and uses their numbers
// again.
func TestDatabaseFailover(t *testing.T) {
	for asynchronous, want := range map[bool]checker.Verdict{false: checker.Holds, true: checker.Violated} {
		s := inStore(t, "database-row", holderAndRivals(2)...)
		s.Store.Asynchronous = asynchronous
		s.Store.Commit = nemesis.Distribution{Range: span(5*ms, 50*ms)}
		s.Plan = nemesis.Plan{crash(nemesis.When(1, env.StepGranted, 0), 500*ms)}
		wantVerdicts(t, runs(t, s, 30), verdicts{checker.Lease: want, checker.Fence: want})
	}
}

// Law: what a lock in a store cannot do without is missed before the run.
func TestStoreLocksWantARetryDelay(t *testing.T) {
	each(t, storeLocks, func(t *testing.T, kind string) {
		s := inStore(t, kind, sections(1, span(0, 0), span(0, 0), span(0, 0)))
		s.Lock.Tries = 1
		if _, err := runner.Prepare(simulated.Backend(), s); err != nil {
			t.Fatal(err)
		}
		s.Lock.Retry = nemesis.Range{}
		_, err := runner.Prepare(simulated.Backend(), s)
		if wrong := new(nemesis.FieldError); !errors.As(err, &wrong) || wrong.Path != "lock.retry" {
			t.Errorf("%v: want lock.retry to be wrong", err)
		}
	})
}

// Real servers of a product reject a mode of replication or durability that they do not have, by the
// name of its field. The simulator has all of them.
func TestProductsRejectModesTheyDoNotHave(t *testing.T) {
	tin := simulator
	tin.Name, tin.Exact = "tin", false
	tin.InStore = func(string) (runner.Backend, bool) { return tin, true }
	for _, c := range []struct {
		kind string
		mode nemesis.Store
		want string // the field; "": it is accepted
	}{
		{"etcd", nemesis.Store{Durability: nemesis.Flushed}, ""},
		{"etcd", nemesis.Store{Durability: nemesis.RemoteWrite}, "store.durability"},
		{"etcd", nemesis.Store{Asynchronous: true}, "store.asynchronous"},
		{"expiring-key", nemesis.Store{Durability: nemesis.Off}, "store.durability"},
		{"expiring-key", nemesis.Store{Durability: nemesis.Off, Product: "postgresql"}, ""},
		{"expiring-key", nemesis.Store{Asynchronous: true, Product: "redis-sentinel"}, ""},
		{"expiring-key", nemesis.Store{Asynchronous: true, Product: "redis-cluster"}, ""},
		{"expiring-key", nemesis.Store{Durability: nemesis.Flushed, Product: "redis-cluster"}, "store.durability"},
		{"database-row", nemesis.Store{Durability: nemesis.Off}, ""},
		{"database-row", nemesis.Store{Durability: nemesis.RemoteWrite, Asynchronous: true}, ""},
	} {
		s := inStore(t, c.kind, holderAndRivals(1)...)
		if c.kind == "expiring-key" {
			s.Lock.Heartbeat = 0
		}
		s.Store.Durability, s.Store.Asynchronous, s.Store.Product = c.mode.Durability, c.mode.Asynchronous, c.mode.Product
		if _, err := runner.Prepare(simulator, s); err != nil {
			t.Errorf("%s with %+v, simulated: %v", c.kind, c.mode, err)
		}
		_, err := runner.Prepare(tin, s)
		var unfit *runner.UnfitError
		if errors.As(err, &unfit) != (c.want != "") || unfit != nil && unfit.Path != c.want || unfit == nil && err != nil {
			t.Errorf("%s with %+v: %v, want an error about %q", c.kind, c.mode, err, c.want)
		}
	}
}
