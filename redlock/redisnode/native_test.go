//go:build linux

package redisnode_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// versioned is a server in memory that claims to be of a version, and knows of the native commands what it is
// told to. SET with IFEQ sets a key with that value, as its page says.
type versioned struct {
	*miniredis.Miniredis
	mu      sync.Mutex
	info    string   // of INFO server
	knows   string   // the native commands that it has: DELEX DELIFEQ IFEQ
	failing string   // the error of SET with IFEQ; "": none
	got     []string // the commands of clients, in short
}

func newVersioned(t *testing.T, info, knows string) *versioned {
	s := &versioned{Miniredis: miniredis.RunT(t), info: info, knows: knows}
	s.Server().SetPreHook(s.hook)
	return s
}

// become makes it another run, of another version.
func (s *versioned) become(info, knows string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info, s.knows = info, knows
}

// took returns the commands since the last call.
func (s *versioned) took() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := strings.Join(s.got, " ")
	s.got = nil
	return got
}

func (s *versioned) hook(c *server.Peer, command string, args ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	conditional := command == "SET" && slices.Contains(args, "ifeq")
	switch {
	case command == "INFO":
		c.WriteBulk("# Server\r\n" + s.info + "\r\n")
		return true
	case command == "DELEX", command == "DELIFEQ", command == "EVALSHA", command == "EVAL":
		s.got = append(s.got, command)
	case conditional:
		s.got = append(s.got, "IFEQ")
	}
	switch {
	case conditional && s.failing != "":
		c.WriteError(s.failing)
	case conditional && !strings.Contains(s.knows, "IFEQ"):
		c.WriteError("ERR syntax error")
	case conditional: // key token ifeq token px ttl
		if held, _ := s.Miniredis.DB(0).Get(args[0]); held != args[3] {
			c.WriteNull()
			return true
		}
		ttl, _ := time.ParseDuration(args[5] + "ms")
		s.Miniredis.DB(0).SetTTL(args[0], ttl)
		c.WriteOK()
	case (command == "DELEX" || command == "DELIFEQ") && !slices.Contains(strings.Fields(s.knows), command):
		c.WriteError("ERR unknown command '" + command + "'")
	case command == "DELIFEQ":
		if held, _ := s.Miniredis.DB(0).Get(args[0]); held != args[1] {
			c.WriteInt(0)
			return true
		}
		s.Miniredis.DB(0).Del(args[0])
		c.WriteInt(1)
	default:
		return false
	}
	return true
}

const (
	redis84  = "redis_version:8.4.0\r\nrun_id:"
	redis70  = "redis_version:7.0.15\r\nrun_id:"
	valkey90 = "redis_version:7.2.4\r\nvalkey_version:9.0.0\r\nrun_id:"
	valkey81 = "redis_version:7.2.4\r\nvalkey_version:8.1.0\r\nrun_id:"
)

// natively allows native commands.
func natively(cmd env.Command) env.Command {
	cmd.Native = true
	return cmd
}

// askOne sends a command to the only node, over a connection that exists.
func (b *bench) askOne(nodes *redisnode.Nodes, cmd env.Command) env.Answer {
	b.Helper()
	return b.hear(nodes.Send(env.AllNodes(1), cmd, in(patience)), 1)[0]
}

// onVersion connects to a server; the handshake tells its version.
func onVersion(t *testing.T, s *versioned) (*bench, *redisnode.Nodes) {
	t.Helper()
	b := &bench{T: t}
	nodes := b.connect([]string{s.Addr()}, redisnode.Options{PoolSize: 1})
	b.askOne(nodes, env.Command{Op: env.OpCount, Key: "warm-up"})
	return b, nodes
}

// Law: each server gets the commands that its version has, and the answers are those of the scripts: keys of others
// are neither deleted nor extended, and none is created.
func TestNativeCommandsByVersion(t *testing.T) {
	for name, c := range map[string]struct {
		info, knows string
		want        string // to extend and to delete
	}{
		"Redis 8.4":                {redis84, "DELEX IFEQ", "IFEQ DELEX"},
		"Valkey 9.0":               {valkey90, "DELIFEQ IFEQ", "IFEQ DELIFEQ"},
		"Valkey 8.1":               {valkey81, "IFEQ", "IFEQ EVALSHA"},
		"Redis 7.0":                {redis70, "", "EVALSHA EVALSHA"},
		"Redis 7.0 that has them":  {redis70, "DELEX DELIFEQ IFEQ", "EVALSHA EVALSHA"}, // nobody asked
		"a proxy before Redis 8.4": {redis84, "", "EVALSHA EVALSHA"},                   // which it has rejected once
	} {
		t.Run(name, func(t *testing.T) {
			s := newVersioned(t, c.info+"a", c.knows)
			b, nodes := onVersion(t, s)
			for _, op := range []env.Op{env.OpExtend, env.OpDelete} { // load the scripts, and meet the proxy
				cmd := natively(extend("nobody", time.Hour))
				cmd.Op = op
				if got := b.askOne(nodes, cmd); got != env.No {
					t.Errorf("%v of no key: %v", op, got)
				}
			}
			if s.Exists("key") {
				t.Error("a key was created")
			}
			b.askOne(nodes, set("a", time.Minute))
			s.took()
			for _, other := range []env.Command{extend("b", time.Hour), del("b")} {
				if got := b.askOne(nodes, natively(other)); got != env.No || s.TTL("key") != time.Minute {
					t.Errorf("%v of another's: %v, it lives %v", other.Op, got, s.TTL("key"))
				}
			}
			s.took()
			if got := b.askOne(nodes, natively(extend("a", time.Hour))); got != env.Yes || s.TTL("key") != time.Hour {
				t.Errorf("extend: %v, it lives %v", got, s.TTL("key"))
			}
			if got := b.askOne(nodes, natively(del("a"))); got != env.Yes || s.Exists("key") {
				t.Errorf("delete: %v, exists: %t", got, s.Exists("key"))
			}
			if got := s.took(); got != c.want {
				t.Errorf("it got %s, want %s", got, c.want)
			}
			b.askOne(nodes, extend("a", time.Hour))
			b.askOne(nodes, del("a"))
			if got := s.took(); strings.Contains(got, "IFEQ") || strings.Contains(got, "DEL") {
				t.Errorf("requests that do not allow native commands: %s", got)
			}
		})
	}
}

// A proxy that rejects a native command costs one round trip in a run of the server, and no answer.
func TestRejectedNativeCommandIsSentAsAScript(t *testing.T) {
	s := newVersioned(t, redis84+"a", "")
	b, nodes := onVersion(t, s)
	b.askOne(nodes, set("a", time.Minute))
	if got := b.askOne(nodes, natively(extend("a", time.Hour))); got != env.Yes || s.TTL("key") != time.Hour {
		t.Errorf("extend: %v, it lives %v", got, s.TTL("key"))
	}
	if got := b.askOne(nodes, natively(del("a"))); got != env.Yes || s.Exists("key") {
		t.Errorf("delete: %v, exists: %t", got, s.Exists("key"))
	}
	if got := s.took(); got != "IFEQ EVALSHA EVAL EVALSHA EVAL" {
		t.Errorf("it got %s", got)
	}
}

// An error that passes sends this one request as a script, which a server without memory can carry out.
func TestNativeCommandOutOfMemory(t *testing.T) {
	s := newVersioned(t, redis84+"a", "DELEX IFEQ")
	b, nodes := onVersion(t, s)
	b.askOne(nodes, set("a", time.Minute))
	s.failing = "OOM command not allowed when used memory > 'maxmemory'."
	if got := b.askOne(nodes, natively(extend("a", time.Hour))); got != env.Yes || s.TTL("key") != time.Hour {
		t.Errorf("extend: %v, it lives %v", got, s.TTL("key"))
	}
	s.failing = ""
	b.askOne(nodes, natively(extend("a", 2*time.Hour)))
	if got := s.took(); got != "IFEQ EVALSHA EVAL IFEQ" {
		t.Errorf("it got %s", got)
	}
}

// A server that is upgraded, or downgraded, under a hold is found out by the handshake of its next run. A request
// that is translated before that handshake is answered all the same.
func TestUpgradeUnderAHold(t *testing.T) {
	s := newVersioned(t, redis70+"a", "")
	b, nodes := onVersion(t, s)
	b.askOne(nodes, set("a", time.Minute))
	extendTo := func(d time.Duration, want string) {
		t.Helper()
		var got env.Answer
		for range 3 { // the first may find the connection broken
			if got = b.askOne(nodes, natively(extend("a", d))); got == env.Yes {
				break
			}
		}
		if got != env.Yes || s.TTL("key") != d {
			t.Errorf("extend to %v: %v, it lives %v", d, got, s.TTL("key"))
		}
		if got := s.took(); !strings.HasSuffix(got, want) {
			t.Errorf("extend to %v: it got %s, want %s at last", d, got, want)
		}
	}
	again := func(info, knows string) {
		t.Helper()
		s.Close()
		s.become(info, knows)
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		s.Server().SetPreHook(s.hook)
	}
	extendTo(time.Hour, "EVAL")
	again(redis84+"b", "DELEX IFEQ")
	extendTo(2*time.Hour, "EVALSHA")
	extendTo(3*time.Hour, "IFEQ")
	again(redis70+"c", "")
	extendTo(4*time.Hour, "EVALSHA") // after an IFEQ that it does not know
	extendTo(5*time.Hour, "EVALSHA")
}

// In a cluster of several versions each node gets its own commands, and all of them count.
func TestMixedVersions(t *testing.T) {
	servers := []*versioned{newVersioned(t, redis84+"a", "DELEX IFEQ"), newVersioned(t, valkey90+"b", "DELIFEQ IFEQ"), newVersioned(t, redis70+"c", "")}
	var addrs []string
	for _, s := range servers {
		addrs = append(addrs, s.Addr())
	}
	b := &bench{T: t}
	b.nodes = b.connect(addrs, redisnode.Options{})
	all := func(a env.Answer) []env.Answer { return []env.Answer{a, a, a} }
	b.want(set("a", time.Minute), all(env.Yes)...)
	b.want(natively(extend("a", time.Hour)), all(env.Yes)...)
	b.want(natively(del("b")), all(env.No)...)
	b.want(natively(del("a")), all(env.Yes)...)
	for i, want := range []string{"IFEQ DELEX DELEX", "IFEQ DELIFEQ DELIFEQ", "EVALSHA EVAL EVALSHA EVAL EVALSHA"} {
		if got := servers[i].took(); got != want {
			t.Errorf("node %d got %s, want %s", i+1, got, want)
		}
	}
}
