package locktest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockstorm/lockstorm/locktest"
)

// Mutex is your lock: a key on one server with its own token, deleted only by the client
// that set it.
type Mutex struct {
	Client *redis.Client
	TTL    time.Duration
}

// Errors of a Mutex.
var (
	ErrTaken = errors.New("somebody else holds the lock")
	ErrGone  = errors.New("the lock has expired")
)

// TryLock sets the key, unless it is there.
func (m *Mutex) TryLock(ctx context.Context, key, token string) error {
	set, err := m.Client.SetNX(ctx, key, token, m.TTL).Result()
	if err == nil && !set {
		return ErrTaken
	}
	return err
}

var unlock = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`)

// Unlock deletes the key if it has the token.
func (m *Mutex) Unlock(ctx context.Context, key, token string) error {
	deleted, err := unlock.Run(ctx, m.Client, []string{key}, token).Int()
	if err == nil && deleted == 0 {
		return ErrGone
	}
	return err
}

// A complete test of a lock. In a _test.go file it is called TestMutexInStorm, and t is its
// argument. A few lines translate the lock's errors and times. A call that gives up at
// once, as here, is repeated in the next round.
func Example() {
	TestMutexInStorm := func(t *testing.T) {
		locktest.Run(t, locktest.Config{Nodes: 1}, func(env locktest.Env) locktest.Locker {
			client := redis.NewClient(&redis.Options{
				Addr: env.Addrs[0], Dialer: env.Dial,
				// Otherwise it holds a mutex while it waits for an answer, and time stands still.
				MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
			})
			env.Cleanup(client.Close)
			mutex := &Mutex{Client: client, TTL: env.TTL}
			return locktest.LockerFunc(func(ctx context.Context, key string) (locktest.Hold, error) {
				token, sent := rand.Text(), time.Now()
				release := func(ctx context.Context) error {
					err := mutex.Unlock(ctx, key, token)
					if errors.Is(err, ErrGone) {
						return locktest.ErrNotHeld
					}
					return err
				}
				return locktest.Hold{Release: release, Until: sent.Add(env.TTL)}, mutex.TryLock(ctx, key, token)
			})
		})
	}
	_ = TestMutexInStorm
}
