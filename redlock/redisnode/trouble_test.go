//go:build linux

package redisnode_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// trouble is something that ails a node.
type trouble struct {
	name    string
	options redisnode.Options

	// prepare does something to the servers in good health. May be nil.
	prepare func(*bench)

	// strike brings the trouble on a node. It returns the address under which
	// the node is found from then on.
	strike func(b *bench, node int) string

	// answer is what becomes of a request to set a key, and reason is in its
	// error. Without an answer the node is silent: nothing but its caller's time
	// limit ends a request.
	answer env.Answer
	reason string

	// busy says that a request to the node is under way before anything else.
	busy bool
}

func (t trouble) silent() bool { return t.answer == 0 }

// troubles are all that is tried. The silent ones get an hour for a dial, so
// that this does not end the wait.
var troubles = []trouble{
	{name: "black hole", strike: swallow},
	{name: "stopped server", strike: stop},
	{name: "no handshake", strike: deafen, options: redisnode.Options{DialTimeout: time.Hour}},
	{name: "connection in use", strike: swallow, options: redisnode.Options{PoolSize: 1}, busy: true},
	{name: "dial under way", strike: deafen, options: redisnode.Options{PoolSize: 1, DialTimeout: time.Hour}, busy: true},

	{name: "reset", strike: resetLater, answer: env.Lost, reason: "connection reset by peer"},
	{name: "reset before it can be asked", strike: resetAtOnce, answer: env.Failed, reason: "connection reset by peer"},

	{name: "too many clients", strike: fill, answer: env.Failed, reason: "ERR max number of clients reached"},
	{name: "protected mode", strike: turnAway("-DENIED Redis is running in protected mode. In this mode\r\n"), answer: env.Failed, reason: "DENIED Redis is running in protected mode"},

	{name: "down", strike: kill, answer: env.Failed, reason: "connection refused"},
	{name: "loading", strike: load, answer: env.Failed, reason: "LOADING "},
	{name: "replica", strike: follow, answer: env.Failed, reason: "READONLY "},
	{name: "out of memory", strike: configure("maxmemory", "1"), answer: env.Failed, reason: "OOM "},
	{name: "snapshots fail", strike: failSnapshots, answer: env.Failed, reason: "MISCONF "},
	{name: "too few replicas", strike: configure("min-replicas-to-write", "1"), answer: env.Failed, reason: "NOREPLICAS "},
	{name: "wants a password", strike: configure("requirepass", "secret"), answer: env.Failed, reason: "NOAUTH "},
	{
		name: "wants another password", options: redisnode.Options{Password: "secret"},
		prepare: func(b *bench) {
			for n := 1; n <= b.fleet.Len(); n++ {
				b.do(n, "CONFIG", "SET", "requirepass", "secret")
			}
		},
		strike: configure("requirepass", "changed"), answer: env.Failed, reason: "WRONGPASS ",
	},
}

// do has a server carry out an operator's command, which must succeed.
func (b *bench) do(node int, words ...any) any {
	b.Helper()
	reply, err := b.plain[node-1].Do(b.Context(), words...).Result()
	if err != nil {
		b.Fatalf("node %d: %v: %v", node, words, err)
	}
	return reply
}

// until waits for a text in the INFO of a server.
func (b *bench) until(node int, info string) {
	b.Helper()
	for end := time.Now().Add(patience); !strings.Contains(b.do(node, "INFO").(string), info); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			b.Fatalf("node %d does not come to %s", node, info)
		}
	}
}

// configure sets one of a server's parameters.
func configure(name, value string) func(*bench, int) string {
	return func(b *bench, node int) string {
		b.do(node, "CONFIG", "SET", name, value)
		return b.fleet.Server(node).Addr()
	}
}

// fill limits a server to one client, which is the one that sets the limit.
func fill(b *bench, node int) string {
	b.do(node, "CONFIG", "SET", "maxclients", "1")
	return b.fleet.Server(node).Addr()
}

func kill(b *bench, node int) string {
	b.fleet.Server(node).Kill()
	return b.fleet.Server(node).Addr()
}

// stop makes a server's process stand still: its kernel goes on to accept
// connections and what comes over them.
func stop(b *bench, node int) string {
	b.signal(node, syscall.SIGSTOP)
	return b.fleet.Server(node).Addr()
}

func (b *bench) signal(node int, s syscall.Signal) {
	b.Helper()
	if err := syscall.Kill(b.fleet.Server(node).Pid(), s); err != nil {
		b.Error(err)
	}
}

// follow makes a server the replica of a master that is not there.
func follow(b *bench, node int) string {
	b.do(node, "REPLICAOF", "127.0.0.1", "1")
	return b.fleet.Server(node).Addr()
}

// load has a server load for minutes what a master sends: the last server
// of the fleet. It takes writes, or it would refuse them for being a replica.
func load(b *bench, node int) string {
	b.Helper()
	master := b.fleet.Len()
	_, port, _ := net.SplitHostPort(b.fleet.Server(master).Addr())
	b.do(master, "EVAL", "for i = 1, 20000 do redis.call('SET', 'ballast' .. i, string.rep('x', 1000)) end return 1", 0)
	b.do(master, "CONFIG", "SET", "repl-diskless-sync-delay", "0")
	b.do(node, "CONFIG", "SET", "replica-read-only", "no", "key-load-delay", "10000", "loading-process-events-interval-bytes", "1024")
	b.do(node, "REPLICAOF", "127.0.0.1", port)
	b.until(node, "\nloading:1")
	return b.fleet.Server(node).Addr()
}

// failSnapshots puts a directory where a server wants to write its snapshot.
func failSnapshots(b *bench, node int) string {
	b.Helper()
	dir := b.do(node, "CONFIG", "GET", "dir").(map[any]any)["dir"].(string)
	if err := os.Mkdir(filepath.Join(dir, "dump.rdb"), 0o700); err != nil {
		b.Fatal(err)
	}
	b.do(node, "CONFIG", "SET", "save", "3600 1")
	b.do(node, "BGSAVE")
	b.until(node, "\nrdb_last_bgsave_status:err")
	return b.fleet.Server(node).Addr()
}
