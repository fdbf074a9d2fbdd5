package redisnode

import (
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/env"
)

// plainQuestion puts the commands in Redis' words that pay no heed to whose key it is. The
// lock of package redlock needs none of them.
func (n *Nodes) plainQuestion(key string, cmd env.Command) *question {
	switch cmd.Op {
	case env.OpGet:
		return line(readToken, "get", key)
	case env.OpPut:
		return n.overwrite(key, cmd.Token)
	case env.OpAdd:
		if n.unended > 0 {
			return line(readSet, append([]any{"set", key, cmd.Token, "nx"}, n.px()...)...)
		}
		return line(readBool, "setnx", key, cmd.Token)
	case env.OpExpire:
		return line(readBool, "pexpire", key, cmd.TTL.Milliseconds())
	case env.OpRemove:
		return line(readBool, "del", key)
	}
	if n.unended > 0 {
		return run(readIncrement, incrementScript, key, n.unended)
	}
	return line(readIncrement, "incr", key)
}

func readIncrement(answers []*redis.Cmd) (env.Reply, error) {
	count, err := answers[0].Uint64()
	return env.Reply{Answer: env.Yes, Count: count}, err
}

func readToken(answers []*redis.Cmd) (env.Reply, error) {
	token, err := answers[0].Text()
	if errors.Is(err, redis.Nil) {
		return yesOrNo(false, nil)
	}
	return env.Reply{Answer: env.Yes, Token: token}, err
}
