// Package unjudged stands for a user's package of whose lock nothing is judged.
package unjudged

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/locktest"
)

// Nothing that is promised of a lock without fences can be violated.
func TestUnjudged(t *testing.T) {
	config := locktest.Config{Nodes: 1, Rounds: 3, Promises: []checker.Property{checker.Fence}, Storms: []locktest.Storm{{Name: "calm"}}}
	locktest.Run(t, config, func(env locktest.Env) locktest.Locker {
		client := redis.NewClient(&redis.Options{Addr: env.Addrs[0], Dialer: env.Dial})
		env.Cleanup(client.Close)
		return locktest.LockerFunc(func(ctx context.Context, key string) (locktest.Hold, error) {
			set, err := client.SetNX(ctx, key, "mine", env.TTL).Result()
			if err == nil && !set {
				err = errors.New("taken")
			}
			return locktest.Hold{Release: func(ctx context.Context) error { return client.Del(ctx, key).Err() }}, err
		})
	})
}
