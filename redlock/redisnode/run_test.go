//go:build linux

package redisnode_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

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

// A note on a run, of the length that is asked for, counts until the server is
// started again, also if the server keeps the note.
func TestRunOfTheServer(t *testing.T) {
	b := newBenchOf(t, redisserver.Options{Nodes: 1, AppendOnly: true}, redisnode.Options{Prefix: "p:"})
	run := b.wantCensus("at first", "k", env.Yes, false)
	if again := b.wantCensus("the key is there", "k", env.No, false); again != run {
		t.Errorf("run %s became %s", run, again)
	}
	b.want(vouch(run, time.Hour), env.Yes)
	b.wantCensus("watched for another time", "l", env.Yes, false)
	b.want(vouch(run, time.Minute), env.Yes)
	b.wantCensus("watched", "m", env.Yes, true)

	b.fleet.Server(1).Kill()
	if err := b.fleet.Server(1).Start(b.Context()); err != nil {
		t.Fatal(err)
	}
	b.ask(del("-")) // finds out that the connection is broken
	if next := b.wantCensus("started again", "n", env.Yes, false); next == run {
		t.Errorf("run %s goes on over a restart", run)
	}
	b.want(vouch(run, time.Minute), env.Yes)
	b.wantCensus("a late note on the run before", "o", env.Yes, false)
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

// What it costs to ask for the run, on one connection at a time.
func BenchmarkSet(b *testing.B) {
	fleet, err := redisserver.OpenFleet(context.Background(), redisserver.Options{Nodes: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = fleet.Close() }()
	nodes, err := redisnode.New([]string{fleet.Server(1).Addr()}, redisnode.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = nodes.Close() }()
	for name, watched := range map[string]time.Duration{"plain": 0, "with the run": time.Minute} {
		b.Run(name, func(b *testing.B) {
			c := env.Command{Op: env.OpSet, Key: "k", Token: "a", TTL: time.Hour, Vouched: watched}
			for b.Loop() {
				if _, err := nodes.Send(env.SetOf(1), c, env.Never).Next(context.Background(), env.Never); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
