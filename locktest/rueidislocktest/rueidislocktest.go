// Package rueidislocktest tests locks of [rueidislock] in the storms of locktest:
//
//	func TestRueidislockInStorm(t *testing.T) {
//		rueidislocktest.Run(t, func(env locktest.Env) rueidislock.LockerOption {
//			return rueidislock.LockerOption{KeyMajority: 1, ClientOption: rueidis.ClientOption{DisableCache: true}}
//		})
//	}
//
// The test is of your configuration: use the options that production has, but for those that
// locktest decides: the address, the dialer, a single client, and KeyValidity, which is
// locktest.Config.TTL. Nodes in memory have no client-side caching; to test with caching, on a real
// redis-server in real time, use:
//
//	c := rueidislocktest.Config(locktest.Config{Backend: locktest.Process, TTL: time.Second})
//	locktest.Run(t, c, func(env locktest.Env) locktest.Locker {
//		return rueidislocktest.New(env, rueidislock.LockerOption{KeyMajority: 1})
//	})
//
// A grant has no end of validity: the lock is extended until it is released, and the end of its
// context is the notice of the loss. A release reports that the lock was not held if the context had
// ended before; otherwise nothing is known, because the library returns nothing.
//
// [rueidislock]: https://pkg.go.dev/github.com/redis/rueidis/rueidislock
package rueidislocktest

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"testing"

	"github.com/redis/rueidis/rueidislock"

	"github.com/lockstorm/lockstorm/locktest"
)

// Run tests a lock on one node in memory, as [locktest.Run] does. open is called for each client of
// each run.
func Run(t *testing.T, open func(locktest.Env) rueidislock.LockerOption) {
	t.Helper()
	locktest.Run(t, Config(locktest.Config{}), func(env locktest.Env) locktest.Locker { return New(env, open(env)) })
}

// Config returns the configuration with one node, unless it names another number. The lock uses the
// first node only, because its keys are in one deployment.
func Config(c locktest.Config) locktest.Config {
	c.Nodes = cmp.Or(c.Nodes, 1)
	return c
}

// New returns the lock of a client, for [locktest.Run]. The locker is closed after the run.
func New(e locktest.Env, option rueidislock.LockerOption) locktest.Locker {
	option.KeyValidity = e.TTL
	option.ClientOption.InitAddress = e.Addrs[:1]
	option.ClientOption.ForceSingleClient = true // nodes in memory know CLUSTER, and are none
	option.ClientOption.DialCtxFn = func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
		return e.Dial(ctx, "tcp", addr)
	}
	locker, err := rueidislock.NewLocker(option)
	e.Must(err)
	e.Cleanup(func() error { locker.Close(); return nil })
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		held, release, err := locker.WithContext(ctx, resource)
		if err != nil {
			return locktest.Hold{}, err
		}
		return locktest.Hold{
			Lost:    held.Done(),
			Release: func(context.Context) error { return released(held, release) },
		}, nil
	})
}

// errSilent is what is known of a release, which returns nothing.
var errSilent = errors.New("rueidislock does not say whether the lock was held until then")

// released releases the lock. What is known is whether the context had ended before.
func released(held context.Context, release func()) error {
	lost := held.Err() != nil
	release()
	if lost {
		return locktest.ErrNotHeld
	}
	return errSilent
}
