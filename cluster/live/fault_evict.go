package live

import (
	"cmp"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var evicting = world.Carry(
	func(w *World, c world.Case[*nemesis.Evict]) error {
		if c.Action.Resource != "" {
			return w.command(c.Action.Node, evictOne(c.Action.Policy, w.fleet.Connect.Prefix+c.Action.Resource))
		}
		return w.command(c.Action.Node, evictAll(c.Action.Policy))
	},
	nil,
).With(nemesis.OneKeyFeature)

// evictAll lets a server be short of memory. It evicts before the next command, which is
// the one that gives it memory again.
func evictAll(p nemesis.EvictionPolicy) commands {
	return commands{
		{"CONFIG", "SET", "maxmemory-policy", string(cmp.Or(p, nemesis.Volatile)) + "-random", "maxmemory-eviction-tenacity", "100", "maxmemory", "1"},
		{"CONFIG", "SET", "maxmemory", "0"},
		{"CONFIG", "SET", "maxmemory-policy", "noeviction"},
	}
}

// evictOne deletes a key in place of a server that would choose by itself.
func evictOne(p nemesis.EvictionPolicy, key string) commands {
	if p == nemesis.AllKeys {
		return commands{{"UNLINK", key}}
	}
	return commands{{"EVAL", UnlinkVolatile, "1", key}}
}

// UnlinkVolatile is a script that deletes a key if it has a time to live.
const UnlinkVolatile = `return redis.call("pttl", KEYS[1]) >= 0 and redis.call("unlink", KEYS[1]) or 0`
