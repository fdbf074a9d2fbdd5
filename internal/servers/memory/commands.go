package memory

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/alicebob/miniredis/v2/server"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// configuration is what miniredis does not know of a Redis, as far as faults need it.
type configuration struct {
	full     bool // it is short of memory
	evicting bool // it makes room then, of keys that have an end
	anyKey   bool // and of others
	replica  bool // of somebody: it is read only
}

// settings are the commands that change it, as faults give them.
var settings = map[string]func(*configuration){
	"CONFIG SET maxmemory 1": func(c *configuration) { c.full = true },
	"CONFIG SET maxmemory 0": func(c *configuration) { c.full = false },
	"CONFIG SET maxmemory-policy volatile-random maxmemory-eviction-tenacity 100 maxmemory 1": func(c *configuration) {
		c.full, c.evicting = true, true
	},
	"CONFIG SET maxmemory-policy allkeys-random maxmemory-eviction-tenacity 100 maxmemory 1": func(c *configuration) {
		c.full, c.evicting, c.anyKey = true, true, true
	},
	"CONFIG SET maxmemory-policy noeviction": func(c *configuration) { c.evicting, c.anyKey = false, false },
	"REPLICAOF 127.0.0.1 1":                  func(c *configuration) { c.replica = true },
	"REPLICAOF NO ONE":                       func(c *configuration) { c.replica = false },
}

// Do implements [live.Commander], for the commands of faults and those of locks.
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
	set := settings[strings.Join(command, " ")]
	if set == nil {
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

// evictionOf returns which keys a command takes that a fault gives in place of an eviction
// of one key, nil if it is none. That a key has gone by it is told as an eviction.
func evictionOf(command []string) func(key string, ends bool) bool {
	switch {
	case len(command) == 2 && command[0] == "UNLINK":
		return func(key string, _ bool) bool { return key == command[1] }
	case len(command) == 4 && command[0] == "EVAL" && command[1] == live.UnlinkVolatile:
		return func(key string, ends bool) bool { return ends && key == command[3] }
	}
	return nil
}

// running returns the node's life when it does not stand still.
func (n *node) running(ctx context.Context) (*serverRun, error) {
	for {
		l := n.now()
		if l == nil {
			return nil, fmt.Errorf("%s is down", n.addr)
		}
		still := n.stands(l)
		if still == nil {
			return l, nil
		}
		select {
		case <-still:
		case <-l.over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// dispatch lets the server do a command, past its connections.
func (l *serverRun) dispatch(command ...string) (any, error) {
	var said bytes.Buffer
	w := bufio.NewWriter(&said)
	l.server.Dispatch(server.NewPeer(w), command)
	if err := w.Flush(); err != nil {
		return nil, err
	}
	reply, err := server.ParseReply(bufio.NewReader(&said))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command[0], err)
	}
	if refused, is := reply.(error); is {
		return nil, refused
	}
	return reply, nil
}

// evict takes the keys of a sort, which depends on whether they have an end.
func (n *node) evict(sort func(key string, ends bool) bool) {
	n.thread.Lock()
	defer n.thread.Unlock()
	n.look(cause{})
	for number := range databases {
		db := n.redis.DB(number)
		for _, key := range db.Keys() {
			if sort(key, db.TTL(key) > 0) {
				db.Del(key)
			}
		}
	}
	n.look(cause{reason: history.Evicted})
}
