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

// errNotANumber is the error of reading a counter from a key that is locked.
var errNotANumber = errors.New("ERR the key holds no number")

// errNotSent is wrapped by the errors of commands that were never sent.
var errNotSent = errors.New("not sent")

var (
	errClosed      = fmt.Errorf("%w: %w", errNotSent, redis.ErrClosed)          // the nodes were closed before
	errUnsent      = fmt.Errorf("%w: %w", errNotSent, context.DeadlineExceeded) // it expired before there was a connection
	errBreakerOpen = fmt.Errorf("%w: %w", errNotSent, errors.New("the node does not reply at present"))
)

//go:embed delete.lua
var deleteSource string

//go:embed extend.lua
var extendSource string

//go:embed raise.lua
var raiseSource string

// script is the source of a script, and its hash, by which a node that has run it knows it.
type script struct{ source, name string }

func newScript(source string) *script { return &script{source, redis.NewScript(source).Hash()} }

var (
	deleteScript = newScript(deleteSource)
	extendScript = newScript(extendSource)
	raiseScript  = newScript(raiseSource)
)

// check returns an error for a command that must not be sent.
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

// query is a command translated for Redis, with the function that reads the reply.
type query struct {
	commands [][]any // Redis commands, sent over one connection in this order
	script   *script // the script that the first command runs; nil: none
	fallback *query  // runs a script in place of the first command, which is native; nil: it is not

	// read converts the replies to the commands.
	read func(answers []*redis.Cmd) (env.Reply, error)
}

// single returns a query of one Redis command.
func single(read func([]*redis.Cmd) (env.Reply, error), args ...any) *query {
	return &query{commands: [][]any{args}, read: read}
}

// runScript returns a query that runs a script on a key.
func runScript(read func([]*redis.Cmd) (env.Reply, error), script *script, key string, arguments ...any) *query {
	q := single(read, append([]any{"evalsha", script.name, 1, key}, arguments...)...)
	q.script = script
	return q
}

// withSource returns the same query for a node that does not know the script.
func (q *query) withSource() *query {
	eval := append([]any{"eval", q.script.source}, q.commands[0][2:]...)
	return &query{commands: append([][]any{eval}, q.commands[1:]...), read: q.read}
}

// after returns what is sent instead if the node has rejected the first command with this error, so
// that the query had no effect; nil: nothing.
func (q *query) after(err error) *query {
	switch {
	case q.fallback != nil && errors.As(err, new(redis.Error)):
		return q.fallback
	case q.script != nil && redis.HasErrorPrefix(err, "NOSCRIPT"):
		return q.withSource()
	}
	return nil
}

// query translates a command for Redis.
func (n *Nodes) query(cmd env.Command) *query {
	key := n.prefix + cmd.Key
	switch cmd.Op {
	case env.OpSet:
		return n.withRun(single(readSet, "set", key, cmd.Token, "nx", "px", cmd.TTL.Milliseconds()), cmd.Vouched)
	case env.OpExtend:
		return n.withRun(runScript(readBool, extendScript, key, cmd.Token, cmd.TTL.Milliseconds()), cmd.Vouched)
	case env.OpDelete:
		return runScript(readBool, deleteScript, key, cmd.Token)
	case env.OpCount:
		return single(readCount, "get", key)
	case env.OpRaise:
		return runScript(readRaise, raiseScript, key, cmd.Count)
	case env.OpVouch:
		return overwrite(n.noteKey(cmd.TTL), cmd.Token)
	}
	return n.plainQuery(key, cmd)
}

// overwrite sets a key without a TTL.
func overwrite(key, value string) *query { return single(readDone, "set", key, value) }

// yesOrNo returns the reply Yes or No.
func yesOrNo(yes bool, err error) (env.Reply, error) {
	if yes {
		return env.Reply{Answer: env.Yes}, err
	}
	return env.Reply{Answer: env.No}, err
}

// readBool reads 1 or 0.
func readBool(answers []*redis.Cmd) (env.Reply, error) { return yesOrNo(answers[0].Bool()) }

// readDone reads the reply of a command that either succeeds or fails.
func readDone(answers []*redis.Cmd) (env.Reply, error) { return yesOrNo(true, answers[0].Err()) }

// readSet reads the reply to SET with NX.
func readSet(answers []*redis.Cmd) (env.Reply, error) {
	err := answers[0].Err()
	if errors.Is(err, redis.Nil) {
		return yesOrNo(false, nil) // the key exists
	}
	return yesOrNo(true, err)
}

func readCount(answers []*redis.Cmd) (env.Reply, error) {
	if err := answers[0].Err(); errors.Is(err, redis.Nil) {
		return env.Reply{Answer: env.Yes}, nil // the counter does not exist yet
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
		return env.Reply{}, fmt.Errorf("%d results of a script that returns two", len(said))
	}
	r, _ := yesOrNo(fmt.Sprint(said[0]) == "1", nil)
	r.Count, err = strconv.ParseUint(fmt.Sprint(said[1]), 10, 64)
	return r, err
}

// answer returns what the outcome of a request means. An error reply of the node means that
// the command had no effect: no command here fails half-way.
func answer(given env.Answer, err error) env.Answer {
	if err == nil {
		return given
	}
	var refused redis.Error
	switch {
	case errors.As(err, &refused), isDialError(err), errors.Is(err, ErrTTL), errors.Is(err, errNotSent), errors.Is(err, errNotANumber):
		return env.Failed
	}
	return env.Lost
}

// withRun adds to a query that of the run id of the server that executed it, and of whether somebody
// has vouched for this run; see [env.Command]. All commands use one connection, which does not
// outlive the server process, so the run id is that of the process that executed the first one.
func (n *Nodes) withRun(q *query, watched time.Duration) *query {
	if watched == 0 {
		return q
	}
	read := q.read
	q.commands = append(q.commands, []any{"info", "server"}, []any{"get", n.noteKey(watched)})
	q.read = func(answers []*redis.Cmd) (env.Reply, error) {
		reply, err := read(answers)
		if err != nil {
			return reply, err
		}
		return readRun(reply, answers[1], answers[2])
	}
	return q
}

// readRun adds the run to the reply to a command that may have taken effect: an error must be
// reported as Lost, not Failed.
func readRun(reply env.Reply, server, noted *redis.Cmd) (env.Reply, error) {
	info, infoErr := server.Text()
	run, err := runID(info)
	if err = errors.Join(infoErr, err); err != nil {
		return env.Reply{}, fmt.Errorf("read the run id of the server: %v", err) //nolint:errorlint // a wrapped error reply would mean that the whole command had no effect
	}
	note, _ := noted.Text()
	reply.Run, reply.Vouched = run, note == run
	return reply, nil
}

// noteKey returns the key under which a client notes the run id that it has watched for this
// long.
func (n *Nodes) noteKey(watched time.Duration) string {
	return fmt.Sprintf("%swatched for %dms", n.prefix, watched.Milliseconds())
}

// plainQuery translates the commands that do not check whose key it is. Only the locks
// that Redlock is compared with use them.
func (n *Nodes) plainQuery(key string, cmd env.Command) *query {
	switch cmd.Op {
	case env.OpGet:
		return single(readToken, "get", key)
	case env.OpPut:
		return overwrite(key, cmd.Token)
	case env.OpAdd:
		return single(readBool, "setnx", key, cmd.Token)
	case env.OpExpire:
		return single(readBool, "pexpire", key, cmd.TTL.Milliseconds())
	case env.OpRemove:
		return single(readBool, "del", key)
	}
	return single(readIncrement, "incr", key)
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
