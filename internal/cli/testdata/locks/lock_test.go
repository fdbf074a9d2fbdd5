// Package locks stands for a user's package: its tests try a lock with locktest, and one fails.
package locks

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/locktest"
)

func TestOrdinary(t *testing.T) {}

func TestSkipped(t *testing.T) { t.Skip("not today") }

// The lock deletes its key without comparing it, so that a client which was paused for too long
// deletes the key of the next holder.
func TestLock(t *testing.T) {
	config := locktest.Config{Nodes: 1, Runs: 1, Again: 2}
	for _, s := range locktest.Storms(config) {
		if s.Name == "contention" || s.Name == "holder-stands-still" {
			config.Storms = append(config.Storms, s)
		}
	}
	same := config.Storms[len(config.Storms)-1]
	same.Name = "holder-stands-still-again"
	config.Storms = append(config.Storms, same)
	locktest.Run(t, config, makeLock)
}

// Nothing is promised, so that each violation is a limit.
func TestLimit(t *testing.T) {
	config := locktest.Config{Nodes: 1, Runs: 1, Promises: []checker.Property{}}
	for _, s := range locktest.Storms(config) {
		if s.Name == "holder-stands-still" {
			config.Storms = append(config.Storms, s)
		}
	}
	locktest.Run(t, config, makeLock)
}

func makeLock(env locktest.Env) locktest.Locker {
	client := redis.NewClient(&redis.Options{Addr: env.Addrs[0], Dialer: env.Dial})
	env.Cleanup(client.Close)
	return locktest.LockerFunc(func(ctx context.Context, key string) (locktest.Hold, error) {
		for {
			sent := time.Now()
			set, err := client.SetNX(ctx, key, rand.Text(), env.TTL).Result()
			if err != nil {
				return locktest.Hold{}, err
			}
			if set {
				release := func(ctx context.Context) error {
					n, err := client.Del(ctx, key).Result()
					if err == nil && n == 0 {
						return locktest.ErrNotHeld
					}
					return err
				}
				return locktest.Hold{Release: release, Until: sent.Add(env.TTL)}, nil
			}
			select {
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
				return locktest.Hold{}, ctx.Err()
			}
		}
	})
}

// This lock is never granted.
func TestRefused(t *testing.T) {
	config := locktest.Config{Nodes: 1, Rounds: 3}
	for _, s := range locktest.Storms(config) {
		if s.Name == "calm" || s.Name == "node-stands-still" {
			config.Storms = append(config.Storms, s)
		}
	}
	locktest.Run(t, config, func(env locktest.Env) locktest.Locker {
		client := redis.NewClient(&redis.Options{Addr: env.Addrs[0], Dialer: env.Dial})
		env.Cleanup(client.Close)
		return locktest.LockerFunc(func(ctx context.Context, key string) (locktest.Hold, error) {
			_, err := client.SetNX(ctx, key, "mine", env.TTL).Result()
			return locktest.Hold{}, errors.Join(errors.New("taken"), err)
		})
	})
}

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
