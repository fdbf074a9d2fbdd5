package rivals

import (
	"context"

	"github.com/lockstorm/lockstorm/env"
)

// naive is what the naive schemes have in common: whoever gives the lock up
// deletes the key, whoever's it is by then. They know no extension. What a failed
// try has left is left to the key's time to live, if it has one: the only delete
// that they know could hit somebody else.
type naive struct{}

func (naive) abandon(*attempt) {}

func (naive) release(ctx context.Context, h *Hold) (env.Answer, error) {
	return releaseOutcome(h.hearNode(ctx, env.Command{Op: env.OpRemove}))
}
