package redlock_test

import (
	"context"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// servers are the three Redis servers of all examples. They live in the process
// of the tests, and as long as it does. Their keys do not expire.
var servers = sync.OnceValue(func() []*miniredis.Miniredis {
	var list []*miniredis.Miniredis
	for range 3 {
		server, err := miniredis.Run()
		if err != nil {
			panic(err)
		}
		list = append(list, server)
	}
	return list
})

// masters returns the addresses of the servers.
func masters() []string {
	var addrs []string
	for _, server := range servers() {
		addrs = append(addrs, server.Addr())
	}
	return addrs
}

// At these addresses no server listens.
const ()

// forget makes all masters forget their keys, as when they are restarted without
// persistence.
func forget() {
	for _, server := range servers() {
		server.FlushAll()
	}
}

// newMutex returns a mutex over the masters at the addresses, and what closes it
// again; the example of the package shows how. It has more patience than the
// configuration says, because what an example prints must not hang on how busy
// the machine is. An example that waits for its hold to end waits no longer than
// 2 minutes.
func newMutex(c redlock.Config, addrs ...string) (m *redlock.Mutex, done func()) {
	c.NodeTimeout = 10 * time.Second
	nodes, err := redisnode.New(addrs, redisnode.Options{})
	if err != nil {
		panic(err)
	}
	m, err = redlock.New(c, env.System(), nodes, nil)
	if err != nil {
		panic(err)
	}
	stuck := time.AfterFunc(2*time.Minute, func() { panic("an example has not ended after 2 minutes") })
	return m, func() {
		stuck.Stop()
		_ = m.Close(context.Background())
		_ = nodes.Close()
	}
}
