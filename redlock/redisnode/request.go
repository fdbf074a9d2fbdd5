package redisnode

import (
	"context"
	_ "embed" // the scripts
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/env"
)

// ErrTTL is the error of a command whose time to live Redis cannot keep
// exactly. It was not sent.
var ErrTTL = errors.New("the time to live has to be a whole number of milliseconds, at least 1")

// errClosed is the error of a command that came after Close. It was not sent.
var errClosed = fmt.Errorf("not sent: %w", redis.ErrClosed)

//go:embed delete.lua
var deleteSource string

//go:embed extend.lua
var extendSource string

var (
	deleteScript = redis.NewScript(deleteSource)
	extendScript = redis.NewScript(extendSource)
)

// check refuses what must not be sent.
func check(cmd env.Command) error {
	switch cmd.Op {
	case env.OpSet, env.OpExtend:
		if cmd.TTL < time.Millisecond || cmd.TTL%time.Millisecond != 0 {
			return fmt.Errorf("%v %v: %w", cmd.Op, cmd.TTL, ErrTTL)
		}
	case env.OpDelete:
	default:
		panic("redisnode: unknown operation " + cmd.Op.String())
	}
	return nil
}

// perform sends one command to one node and reports whether the node did it.
func perform(ctx context.Context, c *redis.Client, cmd env.Command) (bool, error) {
	keys, ms := []string{cmd.Key}, cmd.TTL.Milliseconds()
	switch cmd.Op {
	case env.OpSet:
		err := c.Do(ctx, "set", cmd.Key, cmd.Token, "nx", "px", ms).Err()
		if errors.Is(err, redis.Nil) {
			return false, nil // the key exists
		}
		return err == nil, err
	case env.OpExtend:
		return extendScript.Run(ctx, c, keys, cmd.Token, ms).Bool()
	default:
		return deleteScript.Run(ctx, c, keys, cmd.Token).Bool()
	}
}

// answer says what a request's end means. An error that the node itself sent
// comes before any effect: no command here fails half-way.
func answer(yes bool, err error) env.Answer {
	var refused redis.Error
	var unsent *dialError
	switch {
	case err == nil && yes:
		return env.Yes
	case err == nil:
		return env.No
	case errors.As(err, &refused), errors.As(err, &unsent), errors.Is(err, ErrTTL), errors.Is(err, errClosed):
		return env.Failed
	}
	return env.Lost
}
