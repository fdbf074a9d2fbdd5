// Package goredistest connects clients of go-redis to the nodes of locktest, with the options of
// the user. These must not name an address or a dialer: the client connects to a node of locktest, and
// a run with options that name another server ends with an error.
//
//	locktest.Run(t, locktest.Config{Nodes: 1}, func(env locktest.Env) locktest.Locker {
//		return mine.NewLock(goredistest.Client(env, &redis.Options{MaxRetries: -1}), env.TTL)
//	})
package goredistest

import (
	"fmt"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockstorm/lockstorm/locktest"
)

// Client returns a client of the first node. It is closed after the run.
func Client(env locktest.Env, options *redis.Options) *redis.Client {
	return dial(env, env.Addrs[0], options)
}

// Clients returns a client of each node, in the order of env.Addrs. They are closed after the run.
func Clients(env locktest.Env, options *redis.Options) (all []*redis.Client) {
	for _, addr := range env.Addrs {
		all = append(all, dial(env, addr, options))
	}
	return all
}

// dial connects by the user's options, but for what locktest decides: the address, the dialer, and
// that maintenance notifications are off. go-redis holds a mutex while it asks for those, so virtual
// time would stand still; open-source Redis has none. User name and password stay: a node without
// passwords refuses them, which the user has to see.
func dial(env locktest.Env, addr string, options *redis.Options) *redis.Client {
	var o redis.Options
	if options != nil {
		o = *options
	}
	if o.Addr != "" || o.Dialer != nil {
		env.Must(fmt.Errorf("goredistest: the options name the server %q or a dialer, but the client has to connect to a node of locktest: leave out Addr and Dialer", o.Addr))
	}
	o.Addr, o.Dialer = addr, env.Dial
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	client := redis.NewClient(&o)
	env.Cleanup(client.Close)
	return client
}
