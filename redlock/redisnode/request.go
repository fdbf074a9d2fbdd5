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

// errNotSent is what the errors have in common of commands that no node has seen.
var errNotSent = errors.New("not sent")

var (
	errClosed  = fmt.Errorf("%w: %w", errNotSent, redis.ErrClosed)                             // it came after Close
	errUnsent  = fmt.Errorf("%w: %w", errNotSent, context.DeadlineExceeded)                    // it was given up before there was a connection for it
	errRefused = fmt.Errorf("%w: %w", errNotSent, errors.New("it answers nothing at present")) // the node is mute
)

//go:embed delete.lua
var deleteSource string

//go:embed extend.lua
var extendSource string

//go:embed raise.lua
var raiseSource string

//go:embed increment.lua
var incrementSource string

// script is a script, and the name by which a node knows it that has run it.
type script struct{ source, name string }

func newScript(source string) *script { return &script{source, redis.NewScript(source).Hash()} }

var (
	deleteScript = newScript(deleteSource)
	extendScript = newScript(extendSource)
	raiseScript  = newScript(raiseSource)

	incrementScript = newScript(incrementSource)
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

// question is what a command asks of any node, in Redis' words, and how the node's
// answer is read.
type question struct {
	lines  [][]any // Redis' commands, which go over one connection one after the other
	script *script // that the only line names, to run it; nil: none

	// read returns what the answers to the lines say: whether the node did it, and what
	// else the command asked for.
	read func(answers []*redis.Cmd) (env.Reply, error)
}

// line is a question of one line.
func line(read func([]*redis.Cmd) (env.Reply, error), words ...any) *question {
	return &question{lines: [][]any{words}, read: read}
}

// run is a question that runs a script on a key.
func run(read func([]*redis.Cmd) (env.Reply, error), script *script, key string, arguments ...any) *question {
	q := line(read, append([]any{"evalsha", script.name, 1, key}, arguments...)...)
	q.script = script
	return q
}

// whole is the same question for a node that does not know the script.
func (q *question) whole() *question {
	return line(q.read, append([]any{"eval", q.script.source}, q.lines[0][2:]...)...)
}

// question puts a command in Redis' words.
func (n *Nodes) question(cmd env.Command) *question {
	key := n.prefix + cmd.Key
	switch cmd.Op {
	case env.OpSet:
		if cmd.Vouched > 0 {
			return n.setAndTellRun(key, cmd)
		}
		return line(readSet, set(key, cmd)...)
	case env.OpExtend:
		return run(readBool, extendScript, key, cmd.Token, cmd.TTL.Milliseconds())
	case env.OpDelete:
		return run(readBool, deleteScript, key, cmd.Token)
	case env.OpCount:
		return line(readCount, "get", key)
	case env.OpRaise:
		return run(readRaise, raiseScript, key, n.ending(cmd.Count)...)
	case env.OpVouch:
		return n.overwrite(n.note(cmd.TTL), cmd.Token)
	}
	return n.plainQuestion(key, cmd)
}

func set(key string, cmd env.Command) []any {
	return []any{"set", key, cmd.Token, "nx", "px", cmd.TTL.Milliseconds()}
}

// overwrite sets a key that is given no end but [Options.DefaultTTL].
func (n *Nodes) overwrite(key, value string) *question {
	return line(readDone, append([]any{"set", key, value}, n.px()...)...)
}

// px is what a SET says of the life of a key that is given no end.
func (n *Nodes) px() []any {
	if n.unended > 0 {
		return []any{"px", n.unended}
	}
	return nil
}

// ending are the arguments of a script, and the life that it is to give to a key, if
// there is to be an end.
func (n *Nodes) ending(arguments ...any) []any {
	if n.unended > 0 {
		arguments = append(arguments, n.unended)
	}
	return arguments
}

// yesOrNo is the reply that says whether something was done.
func yesOrNo(yes bool, err error) (env.Reply, error) {
	if yes {
		return env.Reply{Answer: env.Yes}, err
	}
	return env.Reply{Answer: env.No}, err
}

// readBool reads 1 or 0.
func readBool(answers []*redis.Cmd) (env.Reply, error) { return yesOrNo(answers[0].Bool()) }

// readDone reads the answer to what is done unless it fails.
func readDone(answers []*redis.Cmd) (env.Reply, error) { return yesOrNo(true, answers[0].Err()) }

// readSet reads the answer to a SET that is to create a key.
func readSet(answers []*redis.Cmd) (env.Reply, error) {
	err := answers[0].Err()
	if errors.Is(err, redis.Nil) {
		return yesOrNo(false, nil) // the key exists
	}
	return yesOrNo(true, err)
}

func readCount(answers []*redis.Cmd) (env.Reply, error) {
	if err := answers[0].Err(); errors.Is(err, redis.Nil) {
		return env.Reply{Answer: env.Yes}, nil // it has never been raised
	} else if err != nil {
		return env.Reply{}, err
	}
	n, err := answers[0].Uint64()
	if err != nil {
		return env.Reply{}, errNotANumber
	}
	return env.Reply{Answer: env.Yes, Count: n}, nil
}

func readRaise(answers []*redis.Cmd) (env.Reply, error) {
	said, err := answers[0].Slice()
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

// answer says what a request's end means. An error that the node itself sent
// comes before any effect: no command here fails half-way.
func answer(given env.Answer, err error) env.Answer {
	if err == nil {
		return given
	}
	var refused redis.Error
	switch {
	case errors.As(err, &refused), unconnected(err), errors.Is(err, ErrTTL), errors.Is(err, errNotSent), errors.Is(err, errNotANumber):
		return env.Failed
	}
	return env.Lost
}
