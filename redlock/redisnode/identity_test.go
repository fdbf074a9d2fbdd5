//go:build linux

package redisnode_test

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// localhost is another address of the same server.
func localhost(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return net.JoinHostPort("localhost", port)
}

// Two addresses of one server are one node, whichever is connected first. The error of the try
// names both.
func TestTwoAddressesOfOneServer(t *testing.T) {
	b := newBench(t, 1, redisnode.Options{})
	addrs := []string{b.addrs()[0], localhost(b.addrs()[0])}
	nodes := b.connect(addrs, redisnode.Options{})
	m, err := redlock.New(redlock.Config{TTL: time.Hour, NodeTimeout: patience, Linger: patience}, env.System(), nodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.TryLock(t.Context(), "key")
	want := "two nodes are the same server: nodes 1 and 2, " + addrs[0] + " and " + addrs[1] + ", both have run_id "
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q in it", err, want)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	b.holds("key", "")
	for range 3 {
		refused := 0
		r := nodes.Send(env.AllNodes(2), del("nobody"), in(patience))
		for range addrs {
			reply, err := r.Next(t.Context(), env.Never)
			if err != nil {
				t.Fatal(err)
			}
			if errors.Is(reply.Err, redisnode.ErrSameServer) && reply.Answer == env.Failed {
				refused++
			}
		}
		if refused != 1 {
			t.Errorf("%d of two nodes are refused, want 1", refused)
		}
	}
}

// A server that does not tell its run id is taken for a node of its own: its user has no right
// to ask, or it is no Redis.
func TestServerThatHidesItsIdentity(t *testing.T) {
	b := newBenchOf(t, redisserver.Options{Nodes: 1}, redisnode.Options{})
	if err := b.plain[0].Do(t.Context(), "ACL", "SETUSER", "default", "-info").Err(); err != nil {
		t.Fatal(err)
	}
	nodes := b.connect([]string{b.addrs()[0], localhost(b.addrs()[0])}, redisnode.Options{})
	for _, got := range b.hear(nodes.Send(env.AllNodes(2), del("nobody"), in(patience)), 2) {
		if got != env.No {
			t.Errorf("%v", got)
		}
	}

	var addrs []string
	for range 2 {
		addrs = append(addrs, miniredis.RunT(t).Addr())
	}
	nodes = b.connect(addrs, redisnode.Options{DB: 2})
	for _, got := range b.hear(nodes.Send(env.AllNodes(2), set("a", time.Hour), in(patience)), 2) {
		if got != env.Yes {
			t.Errorf("miniredis: %v", got)
		}
	}
}

// census is a SET that asks for the run it is carried out in.
func census(key string) env.Command {
	return env.Command{Op: env.OpSet, Key: key, Token: "a", TTL: time.Hour, Vouched: time.Minute}
}

func vouch(run string, watched time.Duration) env.Command {
	return env.Command{Op: env.OpVouch, Token: run, TTL: watched}
}

// first sends a command to node 1.
func (b *bench) first(cmd env.Command) env.Reply {
	b.Helper()
	reply, err := b.nodes.Send(env.SetOf(1), cmd, in(patience)).Next(b.Context(), in(patience))
	if err != nil {
		b.Fatal(err)
	}
	return reply
}

func (b *bench) wantCensus(when, key string, want env.Answer, vouched bool) (run string) {
	b.Helper()
	r := b.first(census(key))
	if r.Answer != want || r.Vouched != vouched || len(r.Run) != 40 {
		b.Errorf("%s: %v in run %q, vouched for: %t", when, r.Answer, r.Run, r.Vouched)
	}
	return r.Run
}

// An extension tells the run in which it was carried out, whether or not it found its key. A server
// that has forgotten the script answers NOSCRIPT and the run id; then the script itself is sent, and
// asks again. A server that was killed meanwhile has another run.
func TestRunOfAnExtension(t *testing.T) {
	b := newBench(t, 1, redisnode.Options{})
	run := b.wantCensus("set", "key", env.Yes, false)
	want := func(when, key string, answer env.Answer, vouched bool) {
		b.Helper()
		ask := extend("a", 2*time.Hour)
		ask.Key, ask.Vouched = key, time.Minute
		if r := b.first(ask); r.Answer != answer || r.Run != run || r.Vouched != vouched {
			b.Errorf("%s: %v in run %q, vouched for: %t, %v; want run %q", when, r.Answer, r.Run, r.Vouched, r.Err, run)
		}
	}
	want("a script that is new to the server", "key", env.Yes, false)
	if left := b.plain[0].PTTL(b.Context(), "key").Val(); left <= time.Hour {
		b.Errorf("the key has %v left", left)
	}
	want("a script that is known", "key", env.Yes, false)
	want("no key", "nobody's", env.No, false)
	b.want(vouch(run, time.Minute), env.Yes)
	b.do(1, "SCRIPT", "FLUSH")
	want("after a flush", "key", env.Yes, true)
	if r := b.first(extend("a", 2*time.Hour)); r.Run != "" || r.Answer != env.Yes {
		b.Errorf("unasked: %v in run %q", r.Answer, r.Run)
	}

	b.fleet.Server(1).Kill()
	if err := b.fleet.Server(1).Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	before := run
	if run = b.wantCensus("after a restart", "key", env.Yes, false); run == before {
		b.Errorf("both runs are %q", run)
	}
	want("in the other run", "key", env.Yes, false)
}

// A server that does not say in which run it has set a key has set it all the
// same: nobody may take that for a refusal.
func TestRunThatIsNotTold(t *testing.T) {
	b := newBench(t, 1, redisnode.Options{})
	if err := b.plain[0].Do(b.Context(), "ACL", "SETUSER", "default", "-info").Err(); err != nil {
		t.Fatal(err)
	}
	r := b.first(census("k"))
	if r.Answer != env.Lost || r.Err == nil || !strings.Contains(r.Err.Error(), "INFO") {
		t.Errorf("%v, %v", r.Answer, r.Err)
	}
	b.holds("k", "a")
	again := census("k")
	again.Op = env.OpExtend
	if r := b.first(again); r.Answer != env.Lost || r.Err == nil || !strings.Contains(r.Err.Error(), "INFO") {
		t.Errorf("extend: %v, %v", r.Answer, r.Err)
	}
}

// The rights that the package's page lists are enough for every operation.
func TestLeastRights(t *testing.T) {
	b := newBench(t, 1, redisnode.Options{})
	rights := strings.Fields("ACL SETUSER locker on >secret resetkeys ~p:* resetchannels -@all +hello +set +get +del +pttl +pexpire +eval +evalsha +info")
	if err := b.plain[0].Do(b.Context(), anys(rights)...).Err(); err != nil {
		t.Fatal(err)
	}
	b.nodes = b.connect([]string{b.fleet.Server(1).Addr()}, redisnode.Options{Prefix: "p:", Username: "locker", Password: "secret"})
	run := b.wantCensus("set", "key", env.Yes, false)
	for _, c := range []env.Command{
		extend("a", 2*time.Hour), vouch(run, time.Minute), del("a"),
		{Op: env.OpRaise, Key: "key:fence", Count: 7}, {Op: env.OpCount, Key: "key:fence"},
	} {
		b.want(c, env.Yes)
	}
}

func anys(words []string) (all []any) {
	for _, w := range words {
		all = append(all, w)
	}
	return all
}
