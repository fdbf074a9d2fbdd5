package locks

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/lockstorm/lockstorm/locktest"
)

// openRueidislock is rueidislock as its README shows it, with its majority of 2 keys, and
// caching on the client's side. It needs real servers: those in memory cannot track.
func openRueidislock(env locktest.Env) locktest.Locker {
	return caching(env, rueidislock.LockerOption{})
}

// openRueidislockUncached is the same without caching.
func openRueidislockUncached(env locktest.Env) locktest.Locker {
	return caching(env, rueidislock.LockerOption{ClientOption: rueidis.ClientOption{DisableCache: true}})
}

// openRueidislockSetPX is the latter, and acquires by SET PX in place of SET PXAT.
func openRueidislockSetPX(env locktest.Env) locktest.Locker {
	return caching(env, rueidislock.LockerOption{ClientOption: rueidis.ClientOption{DisableCache: true}, FallbackSETPX: true})
}

// caching is rueidislock on the first node: its client knows one deployment. It extends by
// itself, and tells of a loss by its context.
func caching(env locktest.Env, options rueidislock.LockerOption) locktest.Locker {
	options.KeyValidity = env.TTL
	options.ClientOption.InitAddress = env.Addrs[:1]
	options.ClientOption.ForceSingleClient = true // nodes in memory know CLUSTER, and are none
	options.ClientOption.DialCtxFn = func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
		return env.Dial(ctx, "tcp", addr)
	}
	locker, err := rueidislock.NewLocker(options)
	env.Must(err)
	env.Cleanup(func() error { locker.Close(); return nil })
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

// errSilent is what is known of a release that rueidislock tells nothing of.
var errSilent = errors.New("rueidislock does not say whether the lock was held until then")

// released lets the lock go. All that rueidislock tells of it is whether the context had ended
// before.
func released(held context.Context, release func()) error {
	lost := held.Err() != nil
	release()
	if lost {
		return locktest.ErrNotHeld
	}
	return errSilent
}
