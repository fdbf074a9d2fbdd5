package live

import (
	"cmp"
	"context"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/keywatch"
	"github.com/lockstorm/lockstorm/nemesis"
)

// commandTimeout bounds how long a server may take to answer a command of a fault.
const commandTimeout = 5 * time.Second

// Commands returns the handlers for a fleet of [Commander]s: evict, script-flush and
// node-error.
func Commands() FaultHandlers {
	return FaultHandlers{
		handler[*nemesis.Evict]{
			Features: []nemesis.Feature{nemesis.OneKeyFeature},
			Begin: func(w *World, f injection[*nemesis.Evict]) error {
				if f.Action.Resource != "" {
					return w.command(f.Action.Node, evictOne(f.Action.Policy, f.Action.Resource))
				}
				return w.command(f.Action.Node, evictAll(f.Action.Policy))
			},
		},
		handler[*nemesis.ScriptFlush]{
			Begin: func(w *World, f injection[*nemesis.ScriptFlush]) error {
				return w.command(f.Action.Node, flushScripts)
			},
		},
		handler[*nemesis.NodeError]{
			Begin: func(w *World, f injection[*nemesis.NodeError]) error {
				w.links.Disturb(nemesis.Links{Nodes: f.Action.Nodes}, untouched)
				return w.commandAll(f.Action.Nodes, nodeErrors[f.Action.Error].begin)
			},
			End: func(w *World, f injection[*nemesis.NodeError]) error {
				w.links.Mend(nemesis.Links{Nodes: f.Action.Nodes}, untouched)
				return w.commandAll(f.Action.Nodes, nodeErrors[f.Action.Error].end)
			},
		},
	}
}

// commands are sent to a server one after another.
type commands [][]string

// pauseClients makes a server hold back writes and scripts. CLIENT PAUSE with ALL would hold back CLIENT
// UNPAUSE, too. Its time is in milliseconds, longer than any run.
var (
	pauseClients   = commands{{"CLIENT", "PAUSE", "1000000000", "WRITE"}}
	unpauseClients = commands{{"CLIENT", "UNPAUSE"}}
)

var flushScripts = commands{{"SCRIPT", "FLUSH", "SYNC"}}

// nodeErrors lists the commands that make a server answer with an error, and those that
// undo it. A server that replicates from a closed port is read only.
var nodeErrors = map[nemesis.ErrorName]struct{ begin, end commands }{
	nemesis.OOM:      {commands{{"CONFIG", "SET", "maxmemory", "1"}}, commands{{"CONFIG", "SET", "maxmemory", "0"}}},
	nemesis.ReadOnly: {commands{{"REPLICAOF", "127.0.0.1", "1"}}, commands{{"REPLICAOF", "NO", "ONE"}}},
}

// commandAll sends commands to the servers of several nodes.
func (w *World) commandAll(nodes []int, c commands) error {
	for _, node := range nemesis.Each(nodes, len(w.fleet.Servers)) {
		if err := w.command(node, c); err != nil {
			return err
		}
	}
	return nil
}

// command sends commands to the server of a node. It skips a server that is down. A
// server that is stopped processes them when it continues.
func (w *World) command(node int, c commands) error {
	server := w.server(node).(Commander)
	switch w.states[node-1] {
	case down:
		return nil
	case stopped:
		w.tasks.start("commands to a stopped server", func() {
			if err := sendAll(w.over, server, c); err != nil && w.over.Err() == nil {
				w.fail(err)
			}
		}, w.fail)
		return nil
	}
	ctx, cancel := context.WithTimeout(w.over, commandTimeout)
	defer cancel()
	return sendAll(ctx, server, c)
}

func sendAll(ctx context.Context, server Commander, c commands) error {
	for _, command := range c {
		if _, err := server.Do(ctx, command...); err != nil {
			return err
		}
	}
	return nil
}

// evictAll makes a server run short of memory. The server evicts keys before it processes
// the next command, which gives it the memory back.
func evictAll(p nemesis.EvictionPolicy) commands {
	return commands{
		{"CONFIG", "SET", "maxmemory-policy", string(cmp.Or(p, nemesis.Volatile)) + "-random", "maxmemory-eviction-tenacity", "100", "maxmemory", "1"},
		{"CONFIG", "SET", "maxmemory", "0"},
		{"CONFIG", "SET", "maxmemory-policy", "noeviction"},
	}
}

// evictOne deletes one key. A server that evicts would choose the key itself.
func evictOne(p nemesis.EvictionPolicy, key string) commands {
	script := UnlinkVolatile
	if p == nemesis.AllKeys {
		script = UnlinkAny
	}
	return commands{{"EVAL", script, "1", key}}
}

// UnlinkVolatile is a script that deletes a key if it has a time to live, UnlinkAny one that deletes
// it in any case. They publish a note first, so that a watch of the keys knows the deletion for an
// eviction.
const (
	UnlinkVolatile = `if redis.call("pttl", KEYS[1]) < 0 then return 0 end ` + UnlinkAny
	UnlinkAny      = `redis.call("publish", "` + keywatch.EvictionChannel + `", KEYS[1]) return redis.call("unlink", KEYS[1])`
)
