//go:build linux

package redisnode_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/cluster/wire"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// overWire is a bench with one node behind a link.
func overWire(t *testing.T) (*bench, *wire.Link) {
	b := newBench(t, 1, redisnode.Options{})
	network, err := wire.Open(1, []string{b.fleet.Server(1).Addr()}, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(network.Close)
	b.nodes = b.connect([]string{network.Link(1, 1).Addr()}, redisnode.Options{})
	b.want(del("warm up"), env.No) // there is a connection in the pool
	return b, network.Link(1, 1)
}

// cut holds everything back.
var cut = nemesis.Rule{Holds: func(nemesis.Message) bool { return true }}

func (b *bench) lost(cmd env.Command) {
	b.Helper()
	const giveUp = 100 * time.Millisecond
	began := time.Now()
	if got := b.hear(b.nodes.Send(env.AllNodes(1), cmd, in(giveUp)), 1); got[0] != env.Lost {
		b.Fatalf("%v over a cut link: %v", cmd.Op, got)
	}
	if took := time.Since(began); took > giveUp+slack {
		b.Errorf("%v over a cut link took %v", cmd.Op, took)
	}
}

func TestRequestThatIsHeldBackMayArriveLate(t *testing.T) {
	b, link := overWire(t)
	link.Requests.Impose(1, cut)
	b.lost(set("a", time.Hour))
	b.holds("key", "")
	link.Requests.Lift(1)
	for end := time.Now().Add(patience); b.plain[0].Exists(t.Context(), "key").Val() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the SET never arrived")
		}
	}
	b.want(set("b", time.Hour), env.No) // and the link is as good as new
}

func TestRequestWhoseReplyIsHeldBackTookEffect(t *testing.T) {
	b, link := overWire(t)
	link.Replies.Impose(1, cut)
	b.lost(set("a", time.Hour))
	b.holds("key", "a")
	link.Replies.Lift(1)
	b.want(del("a"), env.Yes)
}

func TestLinkIsUsableAfterManyLostRequests(t *testing.T) {
	b, link := overWire(t)
	link.Requests.Impose(1, cut)
	link.Replies.Impose(1, cut)
	for range 200 {
		b.nodes.Send(env.AllNodes(1), del("nobody"), in(50*time.Millisecond))
	}
	b.lost(del("nobody"))
	link.Requests.Lift(1)
	link.Replies.Lift(1)
	b.want(set("a", time.Hour), env.Yes)
}
