// Package leaderelectiontest tests the leader election of Kubernetes' [client-go] in the storms of
// locktest, with its record in real members of etcd, which have to be installed:
//
//	func TestLeaderElectionInStorm(t *testing.T) {
//		leaderelectiontest.Run(t, func(env locktest.Env) leaderelection.LeaderElectionConfig {
//			return leaderelection.LeaderElectionConfig{
//				LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
//				ReleaseOnCancel: true,
//			}
//		})
//	}
//
// The test is of your configuration: use the durations and the ReleaseOnCancel that production has.
// The durations are scaled, so that LeaseDuration is locktest.Config.TTL, in whole seconds: others
// wait for the whole seconds that the record names. Lock and Callbacks are the test's. Options of
// locktest take one line more:
//
//	c := leaderelectiontest.Config(locktest.Config{TTL: 3 * time.Second})
//	locktest.Run(t, c, func(env locktest.Env) locktest.Locker { return leaderelectiontest.New(env, config) })
//
// A client runs an elector for each hold. A grant has no end of validity: it lasts until the
// context of Run ends, and the end of the context of OnStartedLeading is the notice of the loss.
// Run returns nothing, so all that a release reports is whether that had ended before.
//
// The record is in etcd as an API server would have it, with its optimistic concurrency, but
// without the server: requests have no timeout but those of the elector. The times of the record
// have microseconds. (LeaseLock passes on whole seconds, which is too coarse for a short TTL.)
//
// client-go logs each renewal that fails, and storms break many. In a test binary with this package
// it logs to the default logger of log/slog, which locktest records, unless the binary calls
// [klog.SetLogger] itself.
//
// [client-go]: https://pkg.go.dev/k8s.io/client-go/tools/leaderelection
package leaderelectiontest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/etcdtest"
)

// Run tests a leader election on 3 members of etcd, as [locktest.Run] does. open is called for each
// client of each run.
func Run(t *testing.T, open func(locktest.Env) leaderelection.LeaderElectionConfig) {
	t.Helper()
	locktest.Run(t, Config(locktest.Config{}), func(env locktest.Env) locktest.Locker { return New(env, open(env)) })
}

// Config returns the configuration with etcd as its store. Time is real, so a TTL and rounds that
// are 0 become 2 s and 4.
func Config(c locktest.Config) locktest.Config {
	c.Backend, c.Store = locktest.Process, etcdtest.Store
	c.TTL, c.Rounds = cmp.Or(c.TTL, 2*time.Second), cmp.Or(c.Rounds, 4)
	return c
}

// New returns the lock of a client, for [locktest.Run]. Each call of Lock makes an elector with the
// configuration.
func New(env locktest.Env, config leaderelection.LeaderElectionConfig) locktest.Locker {
	client, holds := etcdtest.Client(env, clientv3.Config{}), new(atomic.Int64)
	config = scaled(config, env.TTL)
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		c, leading := config, make(chan context.Context, 1)
		c.Callbacks = leaderelection.LeaderCallbacks{OnStartedLeading: func(ctx context.Context) { leading <- ctx }, OnStoppedLeading: func() {}}
		c.Lock = &electionRecord{client: client, key: "/leases/" + resource, identity: fmt.Sprintf("%d.%d", env.Client, holds.Add(1))}
		elector, err := leaderelection.NewLeaderElector(c)
		if err != nil {
			return locktest.Hold{}, err
		}
		return lead(ctx, elector, leading)
	})
}

// scaled returns the configuration with all durations in proportion to a LeaseDuration of ttl. A
// LeaseDuration of 0 stays, and is an error of client-go.
func scaled(c leaderelection.LeaderElectionConfig, ttl time.Duration) leaderelection.LeaderElectionConfig {
	if c.LeaseDuration <= 0 {
		return c
	}
	scale := func(d time.Duration) time.Duration {
		return time.Duration(float64(d) * float64(ttl) / float64(c.LeaseDuration))
	}
	c.RenewDeadline, c.RetryPeriod, c.LeaseDuration = scale(c.RenewDeadline), scale(c.RetryPeriod), ttl
	return c
}

// lead waits until an elector leads.
func lead(ctx context.Context, elector *leaderelection.LeaderElector, leading <-chan context.Context) (locktest.Hold, error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		elector.Run(ctx)
	}()
	select {
	case <-done: // ctx has ended
		cancel()
		return locktest.Hold{}, ctx.Err()
	case held := <-leading:
		release := func(ctx context.Context) error {
			lost := held.Err() != nil
			cancel()
			select {
			case <-done:
				return stopped(lost)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return locktest.Hold{Lost: held.Done(), Release: release}, nil
	}
}

// errSilent is what is known of a release by Run, which returns nothing.
var errSilent = errors.New("client-go does not say whether the lock was held until then")

func stopped(lost bool) error {
	if lost {
		return locktest.ErrNotHeld
	}
	return errSilent
}
