package contract

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/internal/servertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// newServer names a server that has native commands: Redis 8.4 or Valkey 9.
//
//	go test ./internal/contract -run Native -args -redis-server /path/to/redis-server
//
// By default it is the redis-server in PATH. If that has none, the same tests compare the scripts that take
// their place.
var newServer = flag.String("redis-server", "", "path of the redis-server, or valkey-server, to test native commands with; empty: look it up in PATH")

// natively allows native commands in a script. If all times to live are equal, as those of a lock are that extends
// natively, they reply as the scripts do, and so does a server without them.
func natively(script []step, equal bool) []step {
	script = slices.Clone(script)
	for i := range script {
		switch c := &script[i].command; c.Op {
		case env.OpSet, env.OpExpire:
			if equal {
				c.TTL = 2*grain + grain/2
			}
		case env.OpExtend:
			if equal {
				c.TTL = 2*grain + grain/2
			}
			c.Native = true
		case env.OpDelete:
			c.Native = true
		}
	}
	return script
}

// has reports whether a server knows a command.
func has(t *testing.T, server *redisserver.Server, command string) bool {
	return !strings.Contains(fmt.Sprintf("%v", servertest.Do(t, server, "COMMAND INFO "+command)), "<nil>")
}

// Law: a simulated node replies to native commands as a real server does: healthy, out of memory, a replica, restarted or
// stopped. A server that has them gets them.
func TestNativeCommandsAnswerAsOnRedis(t *testing.T) {
	const servers, each = 4, 5
	fleet := servertest.Open(t, redisserver.Options{Binary: *newServer, Nodes: servers})
	native := has(t, fleet.Server(1), "DELEX") || has(t, fleet.Server(1), "DELIFEQ")
	all := scripts(asked, asked, restarts, evicts, evictsKey, twice, flushes, stalled, full, follows)
	var judged atomic.Int64
	sideBySide(servers, func(i int) {
		served := on(fleet.Server(i + 1))
		if native {
			if !setsLess(t, served, fmt.Sprint("less ", i)) {
				t.Errorf("server %d: the script of an extension to less could never be held to time", i+1)
			}
		}
		script := rapid.Map(all, func(s []step) []step { return natively(s, true) })
		judged.Add(int64(compareMany(t, served, grain, nemesis.Nothing, script, i*each, each)))
	})
	enough(t, int(judged.Load()), servers*each)
	if stats := servertest.Do(t, fleet.Server(1), "INFO commandstats").(string); native != (strings.Contains(stats, "cmdstat_delex:") || strings.Contains(stats, "cmdstat_delifeq:")) {
		t.Errorf("the server has native commands: %t; it got %s", native, stats)
	}
}

// setsLess compares the one difference of a native extension: it sets the life of a key even to less.
func setsLess(t *testing.T, served player, name string) bool {
	t.Helper()
	ask := func(op env.Op, token string, ttl time.Duration) step {
		return step{what: asked, command: env.Command{Op: op, Key: "k", Token: token, TTL: ttl, Native: op == env.OpExtend}}
	}
	script := []step{
		ask(env.OpSet, "a", 9*grain+grain/2), ask(env.OpExtend, "a", grain+grain/2),
		{what: waits, wait: 2 * grain}, ask(env.OpSet, "b", 9*grain+grain/2),
		ask(env.OpExtend, "a", grain+grain/2), ask(env.OpGet, "", grain), // of another's key nothing
	}
	for try := range 20 {
		if compare(t, served, grain, nemesis.Nothing, fmt.Sprint(name, try), script) {
			return true
		}
	}
	return false
}
