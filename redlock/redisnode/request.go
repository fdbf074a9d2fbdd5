package redisnode

import (
	"context"
	_ "embed" // the scripts
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/env"
)

// ErrTTL is the error of a command whose time to live Redis cannot keep
// exactly. It was not sent.
var ErrTTL = errors.New("the time to live has to be a whole number of milliseconds, at least 1")

// errNotANumber is the error of counting under a key that is locked.
var errNotANumber = errors.New("ERR the key holds no number")

// errClosed is the error of a command that came after Close. It was not sent.
var errClosed = fmt.Errorf("not sent: %w", redis.ErrClosed)

//go:embed delete.lua
var deleteSource string

//go:embed extend.lua
var extendSource string

//go:embed raise.lua
var raiseSource string

//go:embed increment.lua
var incrementSource string

var (
	deleteScript = redis.NewScript(deleteSource)
	extendScript = redis.NewScript(extendSource)
	raiseScript  = redis.NewScript(raiseSource)

	incrementScript = redis.NewScript(incrementSource)
)

// check refuses what must not be sent.
func check(cmd env.Command) error {
	switch cmd.Op {
	case env.OpSet, env.OpExtend, env.OpExpire:
		if cmd.TTL < time.Millisecond || cmd.TTL%time.Millisecond != 0 {
			return fmt.Errorf("%v %v: %w", cmd.Op, cmd.TTL, ErrTTL)
		}
	case env.OpDelete, env.OpCount, env.OpRaise, env.OpVouch, env.OpGet, env.OpPut, env.OpAdd, env.OpRemove, env.OpIncrement:
	default:
		panic("redisnode: unknown operation " + cmd.Op.String())
	}
	return nil
}

// perform sends one command to one node. The reply says whether the node did
// it, and what else the command asked for.
func (n *Nodes) perform(ctx context.Context, c *redis.Client, cmd env.Command) (env.Reply, error) {
	keys, ms := []string{n.prefix + cmd.Key}, cmd.TTL.Milliseconds()
	switch cmd.Op {
	case env.OpSet:
		if cmd.Vouched > 0 {
			return n.setAndTellRun(ctx, c, cmd)
		}
		return didSet(set(ctx, c, keys[0], cmd))
	case env.OpExtend:
		return did(extendScript.Run(ctx, c, keys, cmd.Token, ms).Bool())
	case env.OpDelete:
		return did(deleteScript.Run(ctx, c, keys, cmd.Token).Bool())
	case env.OpCount:
		return count(c.Get(ctx, keys[0]))
	case env.OpRaise:
		return n.raise(ctx, c, keys, cmd.Count)
	case env.OpVouch:
		return did(true, n.put(ctx, c, n.note(cmd.TTL), cmd.Token))
	}
	return n.performPlain(ctx, c, keys[0], cmd)
}

// doer is a client or a pipeline.
type doer interface {
	Do(ctx context.Context, words ...any) *redis.Cmd
}

func set(ctx context.Context, by doer, key string, cmd env.Command) *redis.Cmd {
	return by.Do(ctx, "set", key, cmd.Token, "nx", "px", cmd.TTL.Milliseconds())
}

func did(yes bool, err error) (env.Reply, error) {
	if yes {
		return env.Reply{Answer: env.Yes}, err
	}
	return env.Reply{Answer: env.No}, err
}

func didSet(reply *redis.Cmd) (env.Reply, error) {
	err := reply.Err()
	if errors.Is(err, redis.Nil) {
		return did(false, nil) // the key exists
	}
	return did(true, err)
}

func count(reply *redis.StringCmd) (env.Reply, error) {
	if errors.Is(reply.Err(), redis.Nil) {
		return env.Reply{Answer: env.Yes}, nil // it has never been raised
	}
	if reply.Err() != nil {
		return env.Reply{}, reply.Err()
	}
	n, err := reply.Uint64()
	if err != nil {
		return env.Reply{}, errNotANumber
	}
	return env.Reply{Answer: env.Yes, Count: n}, nil
}

func (n *Nodes) raise(ctx context.Context, c *redis.Client, keys []string, count uint64) (env.Reply, error) {
	said, err := raiseScript.Run(ctx, c, keys, n.ending(count)...).Slice()
	if err != nil {
		return env.Reply{}, err
	}
	if len(said) != 2 {
		return env.Reply{}, fmt.Errorf("%d answers of a script that gives two", len(said))
	}
	r, _ := did(fmt.Sprint(said[0]) == "1", nil)
	r.Count, err = strconv.ParseUint(fmt.Sprint(said[1]), 10, 64)
	return r, err
}

// put sets a key that is given no end but [Options.DefaultTTL].
func (n *Nodes) put(ctx context.Context, c *redis.Client, key, value string) error {
	words := []any{"set", key, value}
	if n.unended > 0 {
		words = append(words, "px", n.unended)
	}
	return c.Do(ctx, words...).Err()
}

// ending are the arguments of a script, and the life that it is to give to a key, if
// there is to be an end.
func (n *Nodes) ending(arguments ...any) []any {
	if n.unended > 0 {
		arguments = append(arguments, n.unended)
	}
	return arguments
}

// answer says what a request's end means. An error that the node itself sent
// comes before any effect: no command here fails half-way.
func answer(given env.Answer, err error) env.Answer {
	var refused redis.Error
	var unsent *dialError
	switch {
	case err == nil:
		return given
	case errors.As(err, &refused), errors.As(err, &unsent), errors.Is(err, ErrTTL), errors.Is(err, errClosed), errors.Is(err, errNotANumber):
		return env.Failed
	}
	return env.Lost
}
