package preflight

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// Connect connects to the server at an address and greets it, as Open does, and asks nothing
// else: nothing is written, and no right is needed but to say hello.
func Connect(ctx context.Context, addr string, o redisnode.Options) (*Conn, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%v are over", patience))
	defer cancel()
	c, err := meet(bounded, addr, o)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return c, err
}

// Ping has the server answer, and nothing else. A refusal is an [UnfitError].
func (c *Conn) Ping(ctx context.Context, o redisnode.Options) error {
	return c.demand(ctx, o, "PING")
}
