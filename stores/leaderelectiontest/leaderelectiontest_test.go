//go:build linux

package leaderelectiontest_test

import (
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection"

	"github.com/lockstorm/lockstorm/internal/externaltest"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/etcdtest"
	"github.com/lockstorm/lockstorm/stores/leaderelectiontest"
)

// defaults are the durations that client-go names.
var defaults = leaderelection.LeaderElectionConfig{LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second}

func open(env locktest.Env) locktest.Locker { return leaderelectiontest.New(env, defaults) }

// Law: with the proportions of the defaults, and without ReleaseOnCancel, a leader keeps its
// promises.
func TestRealStoreKeepsTheLeader(t *testing.T) { externaltest.Correct(t, etcdtest.Store, open) }

// Law: who does not look at the context of OnStartedLeading breaks V1.
func TestRealStoreShowsALeaderThatIsNotTold(t *testing.T) {
	externaltest.Wrong(t, etcdtest.Store, externaltest.Untold(open))
}
