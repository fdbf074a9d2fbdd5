package goredistest_test

import (
	"context"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/internal/externaltest"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/goredistest"
)

// Law: there is a client of each node in order, with the user's options, which stay as they are.
func TestClients(t *testing.T) {
	c := locktest.Config{Nodes: 3, Clients: 1, Rounds: 1, Runs: 1, Storms: []locktest.Storm{{Name: "calm"}}}
	given := redis.Options{MaxRetries: 7}
	locktest.Run(t, c, func(env locktest.Env) locktest.Locker {
		clients := append(goredistest.Clients(env, &given), goredistest.Client(env, nil))
		var addrs []string
		for i, client := range clients {
			env.Must(client.Ping(context.Background()).Err())
			addrs = append(addrs, client.Options().Addr)
			if want := []int{7, 7, 7, 3}[i]; client.Options().MaxRetries != want {
				t.Errorf("client %d has MaxRetries %d, not %d", i, client.Options().MaxRetries, want)
			}
		}
		if !slices.Equal(addrs, append(slices.Clone(env.Addrs), env.Addrs[0])) {
			t.Errorf("the clients are of %q, the nodes are %q", addrs, env.Addrs)
		}
		return locktest.LockerFunc(func(context.Context, string) (locktest.Hold, error) {
			return locktest.Hold{Release: func(context.Context) error { return nil }}, nil
		})
	})
	if given.Addr != "" || given.Dialer != nil {
		t.Errorf("the options were changed: %q", given.Addr)
	}
}

// Options that name another server are refused: whoever believes that this server is tested is wrong.
func TestAnotherServerIsRefused(t *testing.T) {
	if externaltest.Inner() {
		c := locktest.Config{Nodes: 1, Clients: 1, Rounds: 1, Runs: 1, Storms: []locktest.Storm{{Name: "calm"}}}
		locktest.Run(t, c, func(env locktest.Env) locktest.Locker {
			goredistest.Client(env, &redis.Options{Addr: "db.example.com:6379"})
			return nil
		})
		return
	}
	externaltest.Failing(t, "TestAnotherServerIsRefused", `goredistest: the options name the server "db.example.com:6379" or a dialer`)
}
