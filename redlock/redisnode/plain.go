package redisnode

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/env"
)

// performPlain sends one of the commands that pay no heed to whose key it is. The
// lock of package redlock needs none of them.
func (n *Nodes) performPlain(ctx context.Context, c *redis.Client, key string, cmd env.Command) (env.Reply, error) {
	switch cmd.Op {
	case env.OpGet:
		return found(c.Get(ctx, key))
	case env.OpPut:
		return did(true, n.put(ctx, c, key, cmd.Token))
	case env.OpAdd:
		if n.unended > 0 {
			return didSet(c.Do(ctx, "set", key, cmd.Token, "nx", "px", n.unended))
		}
		return did(c.Do(ctx, "setnx", key, cmd.Token).Bool())
	case env.OpExpire:
		return did(c.Do(ctx, "pexpire", key, cmd.TTL.Milliseconds()).Bool())
	case env.OpRemove:
		return did(c.Do(ctx, "del", key).Bool())
	default:
		count, err := n.increment(ctx, c, key)
		return env.Reply{Answer: env.Yes, Count: count}, err
	}
}

func (n *Nodes) increment(ctx context.Context, c *redis.Client, key string) (uint64, error) {
	if n.unended > 0 {
		return incrementScript.Run(ctx, c, []string{key}, n.unended).Uint64()
	}
	return c.Incr(ctx, key).Uint64()
}

func found(reply *redis.StringCmd) (env.Reply, error) {
	token, err := reply.Result()
	if errors.Is(err, redis.Nil) {
		return did(false, nil)
	}
	return env.Reply{Answer: env.Yes, Token: token}, err
}
