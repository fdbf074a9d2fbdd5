//go:build linux

package redisnode_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// patience bounds the waits that are expected to end at once.
const patience = 2 * time.Minute

// bench is real servers and what talks to them.
type bench struct {
	*testing.T
	fleet *redisserver.Fleet
	nodes *redisnode.Nodes
	plain []*redis.Client // straight to each node
}

func newBench(t *testing.T, nodes int, o redisnode.Options) *bench {
	t.Helper()
	return newBenchOf(t, redisserver.Options{Nodes: nodes}, o)
}

func newBenchOf(t *testing.T, servers redisserver.Options, o redisnode.Options) *bench {
	t.Helper()
	fleet, err := redisserver.OpenFleet(t.Context(), servers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fleet.Close(); err != nil {
			t.Error(err)
		}
	})
	b := &bench{T: t, fleet: fleet}
	var addrs []string
	for n := 1; n <= servers.Nodes; n++ {
		addrs = append(addrs, fleet.Server(n).Addr())
		plain := redis.NewClient(&redis.Options{Addr: fleet.Server(n).Addr()})
		t.Cleanup(func() { plain.Close() })
		b.plain = append(b.plain, plain)
	}
	b.nodes = b.connect(addrs, o)
	return b
}

func (b *bench) connect(addrs []string, o redisnode.Options) *redisnode.Nodes {
	nodes, err := redisnode.New(addrs, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := nodes.Close(); err != nil {
			b.Error(err)
		}
	})
	return nodes
}

func in(d time.Duration) env.Instant { return env.System().Now(env.Monotonic).Add(d) }

// ask sends a command to all nodes and returns the answers, by node from 0.
func (b *bench) ask(cmd env.Command) []env.Answer {
	b.Helper()
	return b.hear(b.nodes.Send(env.AllNodes(b.nodes.Len()), cmd, in(patience)), b.nodes.Len())
}

// hear receives all replies of a round: one of each node, and no more.
func (b *bench) hear(r env.Round, asked int) []env.Answer {
	b.Helper()
	answers := make([]env.Answer, asked)
	for range asked {
		reply, err := r.Next(b.Context(), in(patience))
		if err != nil {
			b.Fatal(err)
		}
		if answers[reply.Node-1] != 0 {
			b.Fatalf("node %d is reported twice", reply.Node)
		}
		if (reply.Err != nil) != (reply.Answer == env.Failed || reply.Answer == env.Lost) {
			b.Errorf("answer %v with error %v", reply.Answer, reply.Err)
		}
		answers[reply.Node-1] = reply.Answer
	}
	if _, err := r.Next(b.Context(), in(patience)); !errors.Is(err, env.ErrRoundOver) {
		b.Errorf("after all replies: %v", err)
	}
	return answers
}

func (b *bench) want(cmd env.Command, want ...env.Answer) {
	b.Helper()
	if got := b.ask(cmd); !slices.Equal(got, want) {
		b.Fatalf("%v of %s by %s: %v, want %v", cmd.Op, cmd.Key, cmd.Token, got, want)
	}
}

// holds checks what node 1 has under the key, "" being nothing.
func (b *bench) holds(key, want string) {
	b.Helper()
	got, err := b.plain[0].Get(b.Context(), key).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		b.Fatal(err)
	}
	if got != want {
		b.Fatalf("%s holds %q, want %q", key, got, want)
	}
}

func set(token string, ttl time.Duration) env.Command {
	return env.Command{Op: env.OpSet, Key: "key", Token: token, TTL: ttl}
}

func extend(token string, ttl time.Duration) env.Command {
	return env.Command{Op: env.OpExtend, Key: "key", Token: token, TTL: ttl}
}

func del(token string) env.Command {
	return env.Command{Op: env.OpDelete, Key: "key", Token: token}
}

func TestTimeToLiveThatRedisCannotKeepIsNotSent(t *testing.T) {
	b := newBench(t, 2, redisnode.Options{})
	for _, ttl := range []time.Duration{0, -time.Second, 999 * time.Microsecond, 1500 * time.Microsecond} {
		r := b.nodes.Send(env.AllNodes(2), set("a", ttl), in(patience))
		reply, err := r.Next(t.Context(), in(patience))
		if err != nil || reply.Answer != env.Failed || !errors.Is(reply.Err, redisnode.ErrTTL) {
			t.Errorf("set for %v: %+v, %v", ttl, reply, err)
		}
		b.want(extend("a", ttl), env.Failed, env.Failed)
		b.want(env.Command{Op: env.OpExpire, Key: "key", TTL: ttl}, env.Failed, env.Failed)
	}
	b.holds("key", "")
}

func TestSendReachesTheNodesOfTheSetOnly(t *testing.T) {
	b := newBench(t, 3, redisnode.Options{})
	r := b.nodes.Send(env.SetOf(2), set("a", time.Hour), in(patience))
	reply, err := r.Next(t.Context(), in(patience))
	if err != nil || reply.Node != 2 || reply.Answer != env.Yes {
		t.Fatalf("%+v, %v", reply, err)
	}
	if _, err := r.Next(t.Context(), env.Never); !errors.Is(err, env.ErrRoundOver) {
		t.Fatal(err)
	}
	b.want(set("b", time.Hour), env.Yes, env.No, env.Yes)
}

func TestAddressesThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		addrs []string
		want  string
	}{
		{nil, "redisnode: 0 nodes: want 1 to 64"},
		{make([]string, 65), "redisnode: 65 nodes: want 1 to 64"},
		{[]string{"a:1", "b"}, "redisnode: node 2: address b: missing port in address"},
		{[]string{"a:1", "b:1", "a:1"}, "redisnode: nodes 1 and 3 have the same address, a:1"},
	} {
		if _, err := redisnode.New(c.addrs, redisnode.Options{}); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// blackHole accepts connections and never says a word.
func blackHole(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

func TestEndOfTheWaitDoesNotEndTheRequest(t *testing.T) {
	b := newBench(t, 1, redisnode.Options{})
	nodes := b.connect([]string{blackHole(t)}, redisnode.Options{})
	r := nodes.Send(env.AllNodes(1), set("a", time.Hour), env.Never)
	if _, err := r.Next(t.Context(), in(20*time.Millisecond)); !errors.Is(err, env.ErrTimeout) {
		t.Errorf("until has come: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := r.Next(ended, env.Never); !errors.Is(err, context.Canceled) {
		t.Errorf("ctx has ended: %v", err)
	}
	if reply, err := r.Next(t.Context(), in(20*time.Millisecond)); !errors.Is(err, env.ErrTimeout) {
		t.Errorf("the request has ended with its wait: %+v, %v", reply, err)
	}
}

func TestReplyThatIsThereGoesFirst(t *testing.T) {
	b := newBench(t, 1, redisnode.Options{PoolSize: 1})
	r := b.nodes.Send(env.AllNodes(1), set("a", time.Hour), in(patience))
	b.want(set("b", time.Hour), env.No) // over the same connection, so that the reply before is there
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if reply, err := r.Next(ended, in(-time.Hour)); err != nil || reply.Answer != env.Yes {
		t.Errorf("%+v, %v", reply, err)
	}
}

func TestNodeIsUsableAsSoonAsItIsBack(t *testing.T) {
	b := newBench(t, 1, redisnode.Options{PoolSize: 2})
	b.want(set("a", time.Hour), env.Yes)
	b.fleet.Server(1).Kill()
	for range 50 { // far more failed dials than the pool has places
		b.ask(set("b", time.Hour))
	}
	reply, err := b.nodes.Send(env.AllNodes(1), set("b", time.Hour), env.Never).Next(t.Context(), in(patience))
	if err != nil || reply.Answer != env.Failed || !errors.Is(reply.Err, syscall.ECONNREFUSED) { // and so surely not sent
		t.Errorf("a node that is down: %+v, %v", reply, err)
	}
	if err := b.fleet.Server(1).Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.want(set("c", time.Hour), env.Yes)
	b.holds("key", "c")
}
