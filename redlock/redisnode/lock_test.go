//go:build linux

package redisnode_test

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/mutextest"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// The lock keeps its promises on real servers.
func TestLock(t *testing.T) { mutextest.Run(t, newServers(t, 5, redisnode.Options{})) }

// It does so where every request has to wait for one of few connections.
func TestLockOnOneConnection(t *testing.T) {
	mutextest.Exclusion(t, newServers(t, 3, redisnode.Options{PoolSize: 1}))
}

// servers are real servers as a place for locks.
type servers struct {
	*bench
	options redisnode.Options
}

func newServers(t *testing.T, nodes int, o redisnode.Options) servers {
	t.Helper()
	return servers{newBench(t, nodes, o), o}
}

// Connect connects for as long as t lasts.
func (s servers) Connect(t *testing.T) env.Nodes {
	b := *s.bench
	b.T = t
	return b.connect(b.addrs(), s.options)
}

func (b *bench) addrs() []string {
	var addrs []string
	for n := 1; n <= b.fleet.Len(); n++ {
		addrs = append(addrs, b.fleet.Server(n).Addr())
	}
	return addrs
}

// Look asks the server over a connection of its own.
func (s servers) Look(t *testing.T, node int, key string) (string, time.Duration) {
	t.Helper()
	ctx := t.Context()
	token, err := s.plain[node-1].Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		return "", 0
	}
	if err != nil {
		t.Fatal(err)
	}
	life, err := s.plain[node-1].PTTL(ctx, key).Result()
	if err != nil {
		t.Fatal(err)
	}
	return token, life
}
