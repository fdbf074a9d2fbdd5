package memory

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/server"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// redisVersion is the version of Redis that a server claims to be: it has the conditional commands of that one.
const redisVersion = "8.4.0"

// The texts of Redis's errors.
const (
	outOfMemory = "OOM command not allowed when used memory > 'maxmemory'."
	readOnly    = "READONLY You can't write against a read only replica."
)

// preHook is called before each command, including those of scripts. It reports whether it
// has replied to the command itself.
func (n *node) preHook(l *serverRun, c *server.Peer, command string, words []string) bool {
	n.mu.Lock()
	state := l.state
	_, own := l.own[c]
	asker := l.peers[c]
	n.mu.Unlock()
	if own || command == nestedCommand {
		return false
	}
	if asker != nil {
		asker.nextCommand()
		asker.noteContext(command)
	}
	switch {
	case command == identifyCommand:
		n.identify(l, c, words)
	case state.full && !state.evicting && slices.Contains(memoryCommands, command):
		c.WriteError(outOfMemory)
	case state.replica && !slices.Contains(replicaCommands, command) && !l.server.IsReadOnlyCommand(command):
		c.WriteError(readOnly)
	case command == "INFO" && len(words) == 1 && strings.EqualFold(words[0], "server"):
		c.WriteBulk("# Server\r\nredis_version:" + redisVersion + "\r\nredis_mode:standalone\r\nrun_id:" + l.run + "\r\n")
	case command == "EVAL" || command == "EVALSHA":
		n.script(l, asker, c, append([]string{command}, words...))
	case asker == nil: // a command of a script, or one of this package
		set, is := conditionOf(command, words)
		if is {
			set.carryOut(l.server, c)
		}
		return is
	case slices.Contains(blockingCommands, command): // waiting must not block the node's only thread
		return false
	default:
		n.carryOut(l, asker, c, append([]string{command}, words...))
		if command == "SCRIPT" {
			n.noteScripts(l, words)
		}
	}
	return true
}

// carryOut makes the server process a command of a peer as if it had a single thread, and
// records how that has changed the keys.
func (n *node) carryOut(l *serverRun, asker *conn, c *server.Peer, words []string) {
	n.alone(asker, l.server.IsReadOnlyCommand(words[0]), func() {
		n.keys.note(words)
		l.withoutHook(n, c, func() {
			switch set, is := conditionOf(words[0], words[1:]); {
			case is && asker.transaction:
				c.WriteError("ERR this server in memory has no SET with IFEQ or IFNE in a transaction")
			case is:
				set.carryOut(l.server, c)
			default:
				l.server.Dispatch(c, words)
			}
		})
	})
}

// alone processes a command of a peer while no other is processed. Between two commands keys only expire, when
// the node's clock ticks.
func (n *node) alone(asker *conn, reads bool, command func()) {
	n.thread.Lock()
	defer n.thread.Unlock()
	if n.clock.lastTick() != n.keys.seen {
		n.look(cause{})
	}
	command()
	if !reads {
		n.look(asker.cause())
	}
}

// commandError matches miniredis's error for a script in which a command failed.
var commandError = regexp.MustCompile(`^-ERR Error compiling script \(new function\): [^:]*:\d+: ([A-Z]{2,} .*?) stack traceback:  \[G\]: in function 'call'`)

// script runs a script for a peer. An error of one of its commands is returned as Redis
// does; miniredis reports it as an error of the script.
func (n *node) script(l *serverRun, asker *conn, c *server.Peer, words []string) {
	var out bytes.Buffer
	own := server.NewPeer(bufio.NewWriter(&out))
	own.Ctx, own.Resp3 = c.Ctx, c.Resp3
	n.alone(asker, false, func() {
		if asker != nil && n.scriptByInterpreter(l, asker, own, words) {
			return
		}
		l.withoutHook(n, own, func() { l.server.Dispatch(own, words) })
		own.Flush()
		if words[0] == "EVAL" && len(words) > 1 && !bytes.HasPrefix(out.Bytes(), []byte("-")) {
			l.scripts.learn(words[1])
		}
	})
	c.Ctx = own.Ctx
	own.Flush()
	if found := commandError.FindSubmatch(out.Bytes()); found != nil {
		c.WriteError(string(found[1]))
		return
	}
	c.WriteRaw(out.String())
}

// scriptByInterpreter runs a script by the server's interpreter if that can.
func (n *node) scriptByInterpreter(l *serverRun, asker *conn, c *server.Peer, words []string) bool {
	f, keys, args := l.scripts.find(words)
	if f == nil || asker.transaction {
		return false
	}
	if asker.nested == nil {
		asker.nested = n.nested(l, c)
	}
	if asker.nested == nil { // miniredis refuses scripts, as after a SUBSCRIBE
		return false
	}
	n.redis.Lock() // as miniredis does while a script runs
	defer n.redis.Unlock()
	l.scripts.run(f, keys, args, asker.nested, c)
	return true
}

// nestedCommand is a command of scripts that shows what miniredis knows of them.
const nestedCommand = "LOCKSTORM-NESTED"

// nested returns what miniredis knows of the commands of a peer's scripts: that they are nested, and
// their database.
func (n *node) nested(l *serverRun, c *server.Peer) any {
	p := server.NewPeer(bufio.NewWriter(io.Discard))
	p.Ctx, l.seen = c.Ctx, nil
	l.withoutHook(n, p, func() {
		l.server.Dispatch(p, []string{"EVAL", "return redis.call('" + nestedCommand + "')", "0"})
	})
	c.Ctx = p.Ctx
	return l.seen
}

// noteContext notes a command after which miniredis may know something else of the connection.
func (c *conn) noteContext(command string) {
	switch command {
	case "MULTI":
		c.transaction = true
	case "EXEC", "DISCARD", "RESET":
		c.transaction, c.nested = false, nil
	case "AUTH", "HELLO", "SELECT":
		c.nested = nil
	}
}

// noteScripts notes a SCRIPT command.
func (n *node) noteScripts(l *serverRun, words []string) {
	n.thread.Lock()
	defer n.thread.Unlock()
	switch {
	case len(words) == 2 && strings.EqualFold(words[0], "LOAD"):
		l.scripts.learn(words[1])
	case len(words) > 0 && strings.EqualFold(words[0], "FLUSH"):
		l.scripts.forget()
	}
}

// withoutHook makes miniredis process the commands of a peer itself while do runs.
func (l *serverRun) withoutHook(n *node, p *server.Peer, do func()) {
	n.mu.Lock()
	l.own[p] = struct{}{}
	n.mu.Unlock()
	do()
	n.mu.Lock()
	delete(l.own, p)
	n.mu.Unlock()
}

// memoryCommands are the commands that Redis rejects when it is out of memory.
var memoryCommands = strings.Fields(`APPEND BITOP BLMOVE BRPOPLPUSH COPY DECR DECRBY GEOADD GETSET
	HINCRBY HINCRBYFLOAT HMSET HSET HSETEX HSETNX INCR INCRBY INCRBYFLOAT LINSERT LMOVE LPUSH LPUSHX LSET
	MSET MSETNX PFADD PFMERGE PSETEX RESTORE RPOPLPUSH RPUSH RPUSHX SADD SDIFFSTORE SET SETBIT SETEX SETNX
	SETRANGE SINTERSTORE SUNIONSTORE XADD XGROUP ZADD ZINCRBY ZINTERSTORE ZUNIONSTORE`)

// blockingCommands are the commands that may block their client.
var blockingCommands = strings.Fields("BLMOVE BLPOP BRPOP BRPOPLPUSH WAIT XREAD XREADGROUP")

// replicaCommands are the commands that a replica processes besides read-only ones.
var replicaCommands = strings.Fields(`AUTH CLIENT CLUSTER COMMAND DISCARD ECHO EVAL EVALSHA EXEC HELLO INFO MEMORY
	MULTI OBJECT PING PSUBSCRIBE PUBLISH PUBSUB PUNSUBSCRIBE QUIT SCRIPT SELECT SUBSCRIBE TIME UNSUBSCRIBE
	UNWATCH WAIT WATCH XINFO`)

// serverState is the state of a Redis server that faults change and miniredis does not
// have.
type serverState struct {
	full     bool // out of memory
	evicting bool // evicts keys with a time to live when out of memory
	anyKey   bool // evicts other keys, too
	replica  bool // read only
}

// stateCommands are the commands with which faults change the state.
var stateCommands = map[string]func(*serverState){
	"CONFIG SET maxmemory 1": func(c *serverState) { c.full = true },
	"CONFIG SET maxmemory 0": func(c *serverState) { c.full = false },
	"CONFIG SET maxmemory-policy volatile-random maxmemory-eviction-tenacity 100 maxmemory 1": func(c *serverState) {
		c.full, c.evicting = true, true
	},
	"CONFIG SET maxmemory-policy allkeys-random maxmemory-eviction-tenacity 100 maxmemory 1": func(c *serverState) {
		c.full, c.evicting, c.anyKey = true, true, true
	},
	"CONFIG SET maxmemory-policy noeviction": func(c *serverState) { c.evicting, c.anyKey = false, false },
	"REPLICAOF 127.0.0.1 1":                  func(c *serverState) { c.replica = true },
	"REPLICAOF NO ONE":                       func(c *serverState) { c.replica = false },
}

// Do implements [live.Commander], for commands of faults and of locks.
func (n *node) Do(ctx context.Context, command ...string) (any, error) {
	l, err := n.running(ctx)
	if err != nil {
		return nil, err
	}
	n.clock.tick()
	n.sync(l)
	if takes := evictionOf(command); takes != nil {
		n.evict(takes)
		return "OK", nil
	}
	set := stateCommands[strings.Join(command, " ")]
	if set == nil {
		if command[0] == "SCRIPT" {
			n.noteScripts(l, command[1:])
		}
		return l.dispatch(command...)
	}
	n.mu.Lock()
	set(&l.state)
	state := l.state
	n.mu.Unlock()
	if state.full && state.evicting {
		n.evict(func(_ string, ends bool) bool { return ends || state.anyKey })
	}
	return "OK", nil
}

// evictionOf returns the keys that a command deletes if it is one that a fault sends to
// evict a single key, or nil. The history records such a key as evicted.
func evictionOf(command []string) func(key string, ends bool) bool {
	switch {
	case len(command) != 4 || command[0] != "EVAL":
	case command[1] == live.UnlinkAny:
		return func(key string, _ bool) bool { return key == command[3] }
	case command[1] == live.UnlinkVolatile:
		return func(key string, ends bool) bool { return ends && key == command[3] }
	}
	return nil
}

// running returns the current run of the node's server when the server is not stopped.
func (n *node) running(ctx context.Context) (*serverRun, error) {
	for {
		l := n.now()
		if l == nil {
			return nil, fmt.Errorf("%s is down", n.addr)
		}
		stopped := n.stopped(l)
		if stopped == nil {
			return l, nil
		}
		select {
		case <-stopped:
		case <-l.over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// dispatch makes the server process a command without a connection.
func (l *serverRun) dispatch(command ...string) (any, error) {
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	l.server.Dispatch(server.NewPeer(w), command)
	if err := w.Flush(); err != nil {
		return nil, err
	}
	reply, err := server.ParseReply(bufio.NewReader(&out))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command[0], err)
	}
	if refused, is := reply.(error); is {
		return nil, refused
	}
	return reply, nil
}

// evict deletes the selected keys. ends says whether a key has a time to live.
func (n *node) evict(selected func(key string, ends bool) bool) {
	n.thread.Lock()
	defer n.thread.Unlock()
	n.look(cause{})
	for number := range databases {
		db := n.redis.DB(number)
		for _, key := range db.Keys() {
			if selected(key, db.TTL(key) > 0) {
				db.Del(key)
			}
		}
	}
	n.look(cause{reason: history.Evicted})
}
