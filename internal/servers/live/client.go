package live

import (
	"context"
	"fmt"
	"io"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// client is one lock user in the process where it runs: what its runtime and its nodes
// have in common.
type client struct {
	number int
	over   context.Context // ends with the run
	gate   *gate
	clocks *clocks
	nodes  connections // not behind the gate
	random *random
	tasks  *taskGroup
	fail   func(error) // ends the run
}

// connections are those of a client to all nodes, a [redisnode.Nodes]. They are no field of
// that type: who compiles against this package would compile parts of go-redis again, which
// takes seconds.
type connections interface {
	env.Nodes
	io.Closer
}

// newClient returns the client of a number, to whom the nodes have these addresses. Its
// randomness follows from the seed.
func newClient(number int, seed uint64, clocks *clocks, nodes []string, connect redisnode.Options, over context.Context, tasks *taskGroup, fail func(error)) (*client, error) {
	n, err := redisnode.New(nodes, connect)
	if err != nil {
		return nil, err
	}
	return &client{
		number: number,
		over:   over,
		gate:   newGate(over),
		clocks: clocks,
		nodes:  n,
		random: newRandom(seed, fmt.Sprintf("client %d", number)),
		tasks:  tasks,
		fail:   fail,
	}, nil
}

// named is what a goroutine of the client is called.
func (c *client) named(what string) string { return fmt.Sprintf("client %d, %s", c.number, what) }
