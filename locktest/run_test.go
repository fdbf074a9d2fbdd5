package locktest_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/results"
)

// A correct lock on one node keeps its promises in every storm.
func TestOneNodeThatIsRight(t *testing.T) {
	locktest.Run(t, locktest.Config{Nodes: 1, Rounds: 20}, func(env locktest.Env) locktest.Locker { return onOneNode(env) })
}

// So does a lock on a majority of five, and one with extensions and fences.
func TestMajorityThatIsRight(t *testing.T) {
	locktest.Run(t, locktest.Config{Runs: 1, Rounds: 8, Drawn: 3}, func(env locktest.Env) locktest.Locker { return onAllNodes(env) })
}

func TestOneNodeThatIsExtendedAndFenced(t *testing.T) {
	c := locktest.Config{Nodes: 1, Runs: 1, Rounds: 10, Drawn: 3, Work: 3 * time.Second, Extend: 500 * time.Millisecond}
	locktest.Run(t, c, func(env locktest.Env) locktest.Locker {
		l := onOneNode(env)
		l.fenced = true
		return l
	})
}

// stormOf returns the storm of that name.
func stormOf(t *testing.T, c locktest.Config, name string) locktest.Storm {
	t.Helper()
	all := locktest.Storms(c)
	i := slices.IndexFunc(all, func(s locktest.Storm) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no storm %q", name)
	}
	return all[i]
}

// Law: each defect of a lock on one node breaks a promise, in the storm and by the property
// that the table names, and not without faults unless the table says so.
func TestDefectsAreFound(t *testing.T) {
	for _, c := range []struct {
		name   string
		defect func(*oneNode)
		config locktest.Config
		storm  string
		breaks checker.Property
		calm   bool // breaks even then
	}{
		{name: "released by DEL", defect: func(l *oneNode) { l.plainDel = true }, storm: "holder-stands-still", breaks: checker.Lease},
		{name: "a release that always says yes", defect: func(l *oneNode) { l.lies = true }, storm: "holder-stands-still", breaks: checker.Contract},
		{name: "no expiry", defect: func(l *oneNode) { l.noExpiry = true }, storm: "holder-dies", breaks: checker.DeadlockFreedom},
		{name: "asked, then set", defect: func(l *oneNode) { l.twoSteps = true }, storm: "contention", breaks: checker.Lease, calm: true},
		{name: "a fence drawn before", defect: func(l *oneNode) { l.stale = true }, storm: "contention", breaks: checker.Fence, calm: true},
		{name: "a fence drawn before each try", defect: func(l *oneNode) { l.early = true }, storm: "messages-overtake", breaks: checker.Fence},
		{name: "an extension that is none", defect: func(l *oneNode) { l.hollow = true }, config: locktest.Config{Work: 3 * time.Second, Extend: 500 * time.Millisecond}, storm: "calm", breaks: checker.Lease, calm: true},
		{name: "a grant that comes too late", defect: func(l *oneNode) { l.late, l.client.Options().ReadTimeout = true, 3*l.ttl }, storm: "node-stands-still", breaks: checker.Contract},
		{name: "an end beyond that of the key", defect: func(l *oneNode) { l.overlong = true }, storm: "holder-stands-still", breaks: checker.Lease},
		{name: "no end, and work that outlasts the TTL", defect: func(l *oneNode) { l.endless = true }, config: locktest.Config{Work: 5 * time.Second}, storm: "calm", breaks: checker.Lease, calm: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.Nodes = 1
			breaks := func(storm string) bool {
				for seed := uint64(1); seed <= 5; seed++ {
					tried := locktest.Try(t, c.config, stormOf(t, c.config, storm), seed, func(env locktest.Env) locktest.Locker {
						l := onOneNode(env)
						c.defect(l)
						return l
					})
					if tried.Err != nil {
						t.Fatal(tried.Err)
					}
					if slices.ContainsFunc(tried.Broken, func(f checker.Finding) bool { return f.Property == c.breaks }) {
						return true
					}
				}
				return false
			}
			if !breaks(c.storm) {
				t.Errorf("%s is not violated in %s", c.breaks, c.storm)
			}
			if !c.calm && breaks("calm") {
				t.Errorf("%s is violated in calm", c.breaks)
			}
		})
	}
}

// Law: each run of the storm shows a client that sends a release again. A run that shows it by
// chance would make the test of a lock pass now and then.
func TestEachRunLosesRepliesToReleases(t *testing.T) {
	for _, ttl := range []time.Duration{100 * time.Millisecond, 2 * time.Second, 8 * time.Second} {
		c := locktest.Config{Nodes: 1, TTL: ttl}
		for seed := range uint64(8) {
			tried := locktest.Try(t, c, stormOf(t, c, "replies-are-lost"), seed, func(env locktest.Env) locktest.Locker { return sendingAgain(env) })
			if tried.Err != nil || !slices.ContainsFunc(tried.Broken, func(f checker.Finding) bool { return f.Property == checker.Contract }) {
				t.Errorf("TTL %v, seed %d: %v, %v", ttl, seed, tried.Broken, tried.Err)
			}
		}
	}
}

// Law: a survey fails nothing. It shows each run with its own seed until it is told to
// stop, and a run can be stored and run again.
func TestSurvey(t *testing.T) {
	c := locktest.Config{Nodes: 1, Runs: 20, Seed: 7, Promises: []checker.Property{checker.Lease}}
	c.Storms = []locktest.Storm{stormOf(t, c, "contention"), stormOf(t, c, "holder-stands-still")}
	seen := map[string][]uint64{}
	bad := func(env locktest.Env) locktest.Locker {
		l := onOneNode(env)
		l.twoSteps = true
		return l
	}
	locktest.Survey(t, c, bad, func(t *testing.T, s locktest.Seen) bool {
		seen[s.Scenario.Name] = append(seen[s.Scenario.Name], s.Seed)
		if paused := s.Scenario.Name == "holder-stands-still"; (s.Beyond(checker.Section) != nil) != paused {
			t.Errorf("V2 is beyond the plan: %v", s.Beyond(checker.Section))
		}
		if s.Report.Finding(checker.Lease).Verdict != checker.Violated {
			return true
		}
		dir, err := s.Keep(t.TempDir(), "broken")
		if err != nil {
			t.Fatal(err)
		}
		if stored, err := results.Load(dir); err != nil || stored.Seed != s.Seed || stored.Report.Finding(checker.Lease).Verdict != checker.Violated {
			t.Errorf("stored: seed %d, %v", stored.Seed, err)
		}
		if tally, err := s.Rerun(2); err != nil || tally.Runs != 2 {
			t.Errorf("re-runs: %d, %v", tally.Runs, err)
		}
		return false
	})
	for name, seeds := range seen {
		if want := []uint64{7, 8, 9, 10}; len(seeds) == 0 || !slices.Equal(seeds[:min(4, len(seeds))], want[:min(4, len(seeds))]) {
			t.Errorf("%s: seeds %v", name, seeds)
		}
	}
	if len(seen) != 2 || len(seen["contention"]) == c.Runs {
		t.Errorf("seen: %v", seen)
	}
}

// Law: tests in parallel wait for each other's runs, because only one world in memory can
// exist at a time.
func TestParallel(t *testing.T) {
	c := locktest.Config{Nodes: 1, Rounds: 3}
	c.Storms = []locktest.Storm{stormOf(t, c, "calm"), stormOf(t, c, "holder-dies")}
	for _, name := range []string{"one", "another"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			locktest.Run(t, c, func(env locktest.Env) locktest.Locker { return onOneNode(env) })
		})
	}
}

// An Env that Run did not make says so.
func TestEnvOfNobody(t *testing.T) {
	if conn, err := (locktest.Env{}).Dial(context.Background(), "tcp", "233.252.0.1:6379"); conn != nil || err == nil {
		t.Errorf("an Env of nobody dials: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("an Env of nobody cleans up")
		}
	}()
	locktest.Env{}.Cleanup(func() error { return nil })
}
