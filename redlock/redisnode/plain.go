package redisnode

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/env"
)

// putPlain puts one of the commands on a line that pay no heed to whose key it is. The
// lock of package redlock needs none of them.
func (n *Nodes) putPlain(ctx context.Context, line redis.Pipeliner, key string, r *request) answerOf {
	switch cmd := r.command; cmd.Op {
	case env.OpGet:
		return found(line.Get(ctx, key))
	case env.OpPut:
		return n.overwrite(ctx, line, key, cmd.Token)
	case env.OpAdd:
		if n.unended > 0 {
			return didSet(line.Do(ctx, "set", key, cmd.Token, "nx", "px", n.unended))
		}
		return did(line.Do(ctx, "setnx", key, cmd.Token).Bool)
	case env.OpExpire:
		return did(line.Do(ctx, "pexpire", key, cmd.TTL.Milliseconds()).Bool)
	case env.OpRemove:
		return did(line.Do(ctx, "del", key).Bool)
	default:
		return counted(n.increment(ctx, line, key, r))
	}
}

func (n *Nodes) increment(ctx context.Context, line redis.Pipeliner, key string, r *request) *redis.Cmd {
	if n.unended > 0 {
		return r.run(ctx, line, incrementScript, key, n.unended)
	}
	return line.Do(ctx, "incr", key)
}

func counted(by *redis.Cmd) answerOf {
	return func() (env.Reply, error) {
		count, err := by.Uint64()
		return env.Reply{Answer: env.Yes, Count: count}, err
	}
}

func found(by *redis.StringCmd) answerOf {
	return func() (env.Reply, error) {
		token, err := by.Result()
		if errors.Is(err, redis.Nil) {
			return yesOrNo(false, nil)
		}
		return env.Reply{Answer: env.Yes, Token: token}, err
	}
}
