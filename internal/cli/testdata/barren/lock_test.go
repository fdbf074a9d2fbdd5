// Package barren stands for a user's package whose lock is never granted.
package barren

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/locktest"
)

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
