package live

import (
	"fmt"
	"sync"

	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// client is one lock user: what its runtime, nodes and register have in
// common.
type client struct {
	world  *World
	number int
	gate   *gate
	clocks *clocks
	nodes  *redisnode.Nodes // not behind the gate
	random *random
	ending sync.Once
}

func newClient(w *World, number int) (*client, error) {
	addrs := make([]string, len(w.fleet.Servers))
	for i := range addrs {
		addrs[i] = w.network.Link(number, i+1).Addr()
	}
	nodes, err := redisnode.New(addrs, w.fleet.Connect)
	if err != nil {
		return nil, err
	}
	return &client{
		world:  w,
		number: number,
		gate:   newGate(w.over),
		clocks: newClocks(w.ground),
		nodes:  nodes,
		random: newRandom(w.seed, fmt.Sprintf("client %d", number)),
	}, nil
}

// named is what a goroutine of the client is called.
func (c *client) named(what string) string { return fmt.Sprintf("client %d, %s", c.number, what) }

// finish says that the client has returned or died.
func (c *client) finish() {
	c.ending.Do(func() {
		w := c.world
		w.mu.Lock()
		defer w.mu.Unlock()
		w.working--
		if w.working == 0 {
			close(w.done)
		}
	})
}
