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

// answerOf reads what a node has answered to a command, once the line that it stands on
// has been carried out. It says whether the node did it, and what else the command asked
// for.
type answerOf func() (env.Reply, error)

// put puts the command of a request on a line.
func (n *Nodes) put(ctx context.Context, line redis.Pipeliner, r *request) answerOf {
	cmd, key := r.command, n.prefix+r.command.Key
	switch cmd.Op {
	case env.OpSet:
		if cmd.Vouched > 0 {
			return n.setAndTellRun(ctx, line, key, cmd)
		}
		return didSet(set(ctx, line, key, cmd))
	case env.OpExtend:
		return did(r.run(ctx, line, extendScript, key, cmd.Token, cmd.TTL.Milliseconds()).Bool)
	case env.OpDelete:
		return did(r.run(ctx, line, deleteScript, key, cmd.Token).Bool)
	case env.OpCount:
		return count(line.Get(ctx, key))
	case env.OpRaise:
		return raised(r.run(ctx, line, raiseScript, key, n.ending(cmd.Count)...))
	case env.OpVouch:
		return n.overwrite(ctx, line, n.note(cmd.TTL), cmd.Token)
	}
	return n.putPlain(ctx, line, key, r)
}

// run puts a script on a line: its name, or, if the node does not know it, all of it.
func (r *request) run(ctx context.Context, line redis.Pipeliner, script *redis.Script, key string, arguments ...any) *redis.Cmd {
	if r.whole {
		return script.Eval(ctx, line, []string{key}, arguments...)
	}
	return script.EvalSha(ctx, line, []string{key}, arguments...)
}

func set(ctx context.Context, line redis.Pipeliner, key string, cmd env.Command) *redis.Cmd {
	return line.Do(ctx, "set", key, cmd.Token, "nx", "px", cmd.TTL.Milliseconds())
}

func yesOrNo(yes bool, err error) (env.Reply, error) {
	if yes {
		return env.Reply{Answer: env.Yes}, err
	}
	return env.Reply{Answer: env.No}, err
}

// did is a command that says whether it has done something.
func did(said func() (bool, error)) answerOf {
	return func() (env.Reply, error) { return yesOrNo(said()) }
}

// done is a command that does something unless it fails.
func done(by *redis.Cmd) answerOf {
	return func() (env.Reply, error) { return yesOrNo(true, by.Err()) }
}

// didSet is a SET that says whether there was nothing under the key.
func didSet(by *redis.Cmd) answerOf {
	return func() (env.Reply, error) { return setReply(by) }
}

func setReply(by *redis.Cmd) (env.Reply, error) {
	err := by.Err()
	if errors.Is(err, redis.Nil) {
		return yesOrNo(false, nil) // the key exists
	}
	return yesOrNo(true, err)
}

func count(by *redis.StringCmd) answerOf {
	return func() (env.Reply, error) {
		if errors.Is(by.Err(), redis.Nil) {
			return env.Reply{Answer: env.Yes}, nil // it has never been raised
		}
		if by.Err() != nil {
			return env.Reply{}, by.Err()
		}
		n, err := by.Uint64()
		if err != nil {
			return env.Reply{}, errNotANumber
		}
		return env.Reply{Answer: env.Yes, Count: n}, nil
	}
}

func raised(by *redis.Cmd) answerOf {
	return func() (env.Reply, error) {
		said, err := by.Slice()
		if err != nil {
			return env.Reply{}, err
		}
		if len(said) != 2 {
			return env.Reply{}, fmt.Errorf("%d answers of a script that gives two", len(said))
		}
		r, _ := yesOrNo(fmt.Sprint(said[0]) == "1", nil)
		r.Count, err = strconv.ParseUint(fmt.Sprint(said[1]), 10, 64)
		return r, err
	}
}

// overwrite sets a key that is given no end but [Options.DefaultTTL].
func (n *Nodes) overwrite(ctx context.Context, line redis.Pipeliner, key, value string) answerOf {
	words := []any{"set", key, value}
	if n.unended > 0 {
		words = append(words, "px", n.unended)
	}
	return done(line.Do(ctx, words...))
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
