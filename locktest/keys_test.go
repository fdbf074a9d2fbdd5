package locktest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/locktest"
)

var (
	setField    = redis.NewScript(`if redis.call("EXISTS", KEYS[1]) == 0 then redis.call("HSET", KEYS[1], ARGV[1], 1) redis.call("PEXPIRE", KEYS[1], ARGV[2]) return 1 end return 0`)
	deleteField = redis.NewScript(`if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 1 then return redis.call("DEL", KEYS[1]) end return 0`)
)

// onHash is a right lock that keeps its holds in a hash, as locks do that can be entered again.
func onHash(env locktest.Env) locktest.Locker {
	client, tries := onOneNode(env).client, 0
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		tries++
		owner, key := fmt.Sprintf("%d.%d", env.Client, tries), []string{resource}
		for {
			sent := time.Now()
			set, err := setField.Run(ctx, client, key, owner, env.TTL.Milliseconds()).Bool()
			if err == nil && set {
				return locktest.Hold{Until: sent.Add(env.TTL), Release: func(ctx context.Context) error {
					deleted, err := deleteField.Run(ctx, client, key, owner).Bool()
					if err == nil && !deleted {
						err = locktest.ErrNotHeld
					}
					return err
				}}, nil
			}
			select {
			case <-time.After(env.TTL / 40):
			case <-ctx.Done():
				return locktest.Hold{}, ctx.Err()
			}
		}
	})
}

// Law: a lock whose keys are not of the kind that is recorded is not blamed for what they do
// not show, and what could only be told by them is not known.
func TestKeysThatAreNotRecorded(t *testing.T) {
	c := locktest.Config{Nodes: 1}
	tried := locktest.Try(t, c, stormOf(t, c, "contention"), 1, onHash)
	if tried.Err != nil || len(tried.Broken)+len(tried.Limits)+len(tried.Open) > 0 {
		t.Errorf("%v, %v", tried, tried.Err)
	}
	c.Promises = []checker.Property{checker.Cleanup}
	tried = locktest.Try(t, c, stormOf(t, c, "contention"), 1, onHash)
	if tried.Err != nil || len(tried.Open) != 1 || tried.Open[0].Property != checker.Cleanup {
		t.Errorf("L3 is promised: %v, %v", tried, tried.Err)
	}
}
