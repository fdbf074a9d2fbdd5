package locktest_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/locktest"
)

func TestMain(m *testing.M) {
	redis.SetLogger(&logging.VoidLogger{}) // it tells of each connection that breaks
	os.Exit(m.Run())
}

// A lock that is right on one node keeps what is promised, in every storm.
func TestOneNodeThatIsRight(t *testing.T) {
	locktest.Run(t, locktest.Config{Nodes: 1}, func(env locktest.Env) locktest.Locker { return onOneNode(env) })
}

// So does one on a majority of five, and one that extends its holds and bears fences.
func TestMajorityThatIsRight(t *testing.T) {
	locktest.Run(t, locktest.Config{Runs: 1, Rounds: 20, Drawn: 3}, func(env locktest.Env) locktest.Locker { return onAllNodes(env) })
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

// Law: each defect that a lock on one node can have breaks a promise, in the storm that is
// there for it and by the property that it is about, and does not in calm, if it needs a
// storm.
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
		{name: "no expiry", defect: func(l *oneNode) { l.noExpiry = true }, storm: "holder-dies", breaks: checker.DeadlockFreedom},
		{name: "asked, then set", defect: func(l *oneNode) { l.twoSteps = true }, storm: "contention", breaks: checker.Lease, calm: true},
		{name: "a fence drawn before", defect: func(l *oneNode) { l.stale = true }, storm: "contention", breaks: checker.Fence, calm: true},
		{name: "an extension that is none", defect: func(l *oneNode) { l.hollow = true }, config: locktest.Config{Work: 3 * time.Second, Extend: 500 * time.Millisecond}, storm: "calm", breaks: checker.Lease, calm: true},
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
