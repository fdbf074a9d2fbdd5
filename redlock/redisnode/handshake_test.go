//go:build linux

package redisnode_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// A node that answers in time is heard, though a connection to it takes longer to make
// than any request waits: one that came too late for its request serves another.
func TestConnectionOutlivesTheRequestItWasMadeFor(t *testing.T) {
	const giveUp = 100 * time.Millisecond
	b := newBench(t, 1, redisnode.Options{})
	network, err := wire.Open(1, []string{b.fleet.Server(1).Addr()}, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(network.Close)
	network.Link(1, 1).Requests.Impose(1, nemesis.Rule{Delay: func(m nemesis.Message) time.Duration {
		if m.Key == "" { // HELLO
			return 3 * giveUp
		}
		return 0
	}})
	nodes := b.connect([]string{network.Link(1, 1).Addr()}, redisnode.Options{DialTimeout: patience})
	for end := time.Now().Add(patience); ; {
		answers := b.hear(nodes.Send(env.AllNodes(1), del("nobody"), in(giveUp)), 1)
		if answers[0] == env.No {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no request is answered: %v", answers)
		}
	}
}

// A node is greeted once on a connection, though go-redis says HELLO, too.
func TestNodeIsGreetedOnce(t *testing.T) {
	b := newBench(t, 1, redisnode.Options{})
	b.do(1, "CONFIG", "RESETSTAT")
	b.want(del("nobody"), env.No)
	if stats := b.do(1, "INFO", "commandstats").(string); !strings.Contains(stats, "cmdstat_hello:calls=1,") {
		t.Errorf("of one connection the node tells: %s", stats)
	}
}
