//go:build linux

package redisnode_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
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

// lost sends a command over a cut link, and returns when it is given up. One that had not
// been sent by then is sent once more.
func (b *bench) lost(cmd env.Command, giveUp time.Duration) {
	b.Helper()
	for end := time.Now().Add(patience); ; {
		got := b.hear(b.nodes.Send(env.AllNodes(1), cmd, in(giveUp)), 1)[0]
		if got == env.Lost {
			return
		}
		if got != env.Failed || time.Now().After(end) {
			b.Fatalf("%v over a cut link: %v", cmd.Op, got)
		}
	}
}

// comes waits a while for node 1 to have the key.
func (b *bench) comes(key string) bool {
	for end := time.Now().Add(5 * time.Second); b.plain[0].Exists(b.Context(), key).Val() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// units are how long requests wait for what never comes: as long as it takes a machine to
// send them before.
var units = []time.Duration{100 * time.Millisecond, time.Second, 10 * time.Second, time.Minute}

func TestRequestThatIsHeldBackMayArriveLate(t *testing.T) {
	b, link := overWire(t)
	for _, giveUp := range units {
		link.Requests.Impose(1, cut)
		b.lost(set("a", time.Hour), giveUp)
		b.holds("key", "")
		link.Requests.Lift(1)
		if b.comes("key") {
			b.want(set("b", time.Hour), env.No) // and the link is as good as new
			return
		}
		t.Logf("what was given up after %v has not arrived; once more, with more time to send it", giveUp)
	}
	t.Fatal("the SET never arrived")
}

func TestRequestWhoseReplyIsHeldBackTookEffect(t *testing.T) {
	b, link := overWire(t)
	for _, giveUp := range units {
		link.Replies.Impose(1, cut)
		b.lost(set("a", time.Hour), giveUp)
		arrived := b.comes("key")
		link.Replies.Lift(1)
		if arrived {
			b.want(del("a"), env.Yes)
			return
		}
		t.Logf("what was given up after %v has had no effect; once more, with more time to send it", giveUp)
	}
	t.Fatal("the SET had no effect")
}

func TestLinkIsUsableAfterManyLostRequests(t *testing.T) {
	b, link := overWire(t)
	link.Requests.Impose(1, cut)
	link.Replies.Impose(1, cut)
	for range 200 {
		b.nodes.Send(env.AllNodes(1), del("nobody"), in(50*time.Millisecond))
	}
	b.lost(del("nobody"), units[0])
	link.Requests.Lift(1)
	link.Replies.Lift(1)
	b.want(set("a", time.Hour), env.Yes)
}
