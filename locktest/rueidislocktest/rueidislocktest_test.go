package rueidislocktest_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/lockstorm/lockstorm/internal/externaltest"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/rueidislocktest"
)

// option is what production could have, but for caching, which nodes in memory do not know.
var option = rueidislock.LockerOption{KeyMajority: 1, ClientOption: rueidis.ClientOption{DisableCache: true}}

func open(env locktest.Env) locktest.Locker { return rueidislocktest.New(env, option) }

// brief is the configuration of tests that need few grants.
var brief = rueidislocktest.Config(locktest.Config{Runs: 3, Rounds: 12})

// Law: the lock keeps its promises, but for the storm in which a holder is cut off: its context ends
// after others have the lock.
func TestHolderIsToldLate(t *testing.T) {
	c := externaltest.Named(t, brief, "contention", "long-work", "majority-cut-off", "node-comes-back-late", "holder-cut-off")
	if got := externaltest.Broken(t, c, open); !slices.Equal(got, []string{"holder-cut-off V1"}) {
		t.Errorf("%q is broken, not V1 in holder-cut-off alone", got)
	}
}

// Law: what is tested is the user's option: with a prefix for each client nobody is excluded.
func TestOptionCounts(t *testing.T) {
	c := externaltest.Named(t, brief, "contention")
	got := externaltest.Broken(t, c, func(env locktest.Env) locktest.Locker {
		o := option
		o.KeyPrefix = fmt.Sprint(env.Client)
		return rueidislocktest.New(env, o)
	})
	if !slices.Contains(got, "contention V1") {
		t.Errorf("with a prefix for each client %q is broken", got)
	}
}

// TestNoLock has to fail: [TestRunFails] runs it.
func TestNoLock(t *testing.T) {
	if !externaltest.Inner() {
		return
	}
	rueidislocktest.Run(t, func(env locktest.Env) rueidislock.LockerOption {
		env.Must(fmt.Errorf("no lock on %q", env.Addrs))
		return option
	})
}

// Law: Run tests the lock with the option that the function returns, on one node.
func TestRunFails(t *testing.T) {
	externaltest.Failing(t, "TestNoLock", `no lock on ["233.252.0.1:6379"]`)
}
