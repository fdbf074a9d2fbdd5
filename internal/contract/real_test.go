package contract

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// patience bounds every operation on a real server.
const patience = 2 * time.Minute

func soon() env.Instant { return env.System().Now(env.Monotonic).Add(patience) }

// on plays scripts on a server.
func on(server *redisserver.Server) player {
	return func(t *testing.T, name string, script []step) ([]string, time.Duration) {
		return onRedis(t, server, name, script)
	}
}

// onRedis plays the script on a real server, under its own keys.
func onRedis(t *testing.T, server *redisserver.Server, prefix string, script []step) ([]string, time.Duration) {
	t.Helper()
	// Go-redis leaves a connection on which it has read READONLY, and may make the next one
	// to a server that stands still, for longer than a second where the machine is slow.
	nodes, err := redisnode.New([]string{server.Addr()}, redisnode.Options{Prefix: prefix, DialTimeout: patience})
	if err != nil {
		t.Error(err)
		return nil, 0
	}
	defer func() {
		if err := nodes.Close(); err != nil {
			t.Error(err)
		}
	}()
	ask := func(c env.Command) env.Reply { return only(nodes.Send(1, c, soon())) }
	h := &hand{t: t, server: server, prefix: prefix, ask: ask, ping: func() {
		ask(env.Command{Op: env.OpDelete, Key: "warm-up", Token: "-"})
	}}
	h.ping()
	start := time.Now()
	return play(script, node{
		now:   func() time.Duration { return time.Since(start) },
		sleep: time.Sleep,
		ask:   ask,
		begin: h.begin,
		end:   h.end,
	})
}

// hand carries out steps on a real server.
type hand struct {
	t      *testing.T
	server *redisserver.Server
	prefix string // of keys
	ask    func(env.Command) env.Reply
	ping   func() // sends PING over the script's connection
}

func (h *hand) begin(s step) {
	switch s.what {
	case restarts:
		h.kill()
		h.start()
	case shutDown:
		h.server.Quit()
		h.start()
	case evicts:
		h.admin().evict("volatile-ttl", ",expires=")
	case evictsAll:
		h.admin().evict("allkeys-random", ":keys=")
	case evictsKey:
		h.admin().do("EVAL", live.UnlinkVolatile, "1", h.prefix+"k")
	case flushes:
		h.admin().do("SCRIPT", "FLUSH")
	case stalled:
		h.stop(s.wait)
	case full:
		h.admin().do("CONFIG", "SET", "maxmemory", "1")
	case follows:
		h.admin().do("REPLICAOF", "127.0.0.1", "1") // no server listens there
	}
}

func (h *hand) end(s step) {
	switch s.what {
	case twice:
		h.ask(s.command)
	case full:
		h.admin().do("CONFIG", "SET", "maxmemory", "0")
	case follows:
		h.admin().do("REPLICAOF", "NO", "ONE")
	}
}

func (h *hand) admin() admin { return newAdmin(h.t, h.server) }

// start starts a server that has ended.
func (h *hand) start() {
	if err := h.server.Start(context.Background()); err != nil {
		h.t.Error(err)
	}
	// The old connection has broken, which the first request may find out.
	h.ping()
}

// kill ends a server after it has written everything that it acknowledged. With everysec,
// Redis replies before it writes while a sync is under way. A plain kill would then lose
// data, which a simulated node does not (DESIGN.md).
func (h *hand) kill() {
	h.admin().until("INFO", func(info string) bool {
		return !strings.Contains(info, "\naof_enabled:1") || strings.Contains(info, "\naof_buffer_length:0")
	})
	h.server.Kill()
}

// stop stops the server for a while. It returns when the server has stopped.
func (h *hand) stop(length time.Duration) {
	began := time.Now()
	if err := h.server.Stop(); err != nil {
		h.t.Error(err)
	}
	time.AfterFunc(length-time.Since(began), func() { _ = h.server.Continue() })
}

// admin returns the server's operator.
type admin struct {
	t      *testing.T
	server *redisserver.Server
}

func newAdmin(t *testing.T, server *redisserver.Server) admin { return admin{t, server} }

// do sends a command that must succeed.
func (a admin) do(words ...string) string {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	reply, err := a.server.Do(ctx, words...)
	if err != nil {
		a.t.Error(err)
	}
	return fmt.Sprint(reply)
}

// until repeats a command until its reply is as expected.
func (a admin) until(command string, ok func(reply string) bool) {
	a.t.Helper()
	for last := time.Now().Add(patience); !ok(a.do(command)); time.Sleep(ms) {
		if time.Now().After(last) {
			a.t.Errorf("%s is not as it should be after %v", command, patience)
			return
		}
	}
}

// evict leaves the server no memory until it has evicted every key that its policy allows.
// mark precedes the number of those keys in INFO. The last command makes sure that the next
// one is not rejected.
func (a admin) evict(policy, mark string) {
	a.do("CONFIG", "SET", "maxmemory-policy", policy)
	a.do("CONFIG", "SET", "maxmemory", "1")
	a.until("INFO", func(info string) bool {
		_, left, _ := strings.Cut(info, mark)
		return left == "" || strings.HasPrefix(left, "0,")
	})
	a.do("CONFIG", "SET", "maxmemory", "0")
	a.do("CONFIG", "SET", "maxmemory-policy", "noeviction")
}
