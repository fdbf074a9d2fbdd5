package sim

import (
	"errors"
	"strconv"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// message is a request, then its reply, or the news that its connection was reset.
type message struct {
	round        *round
	storeRequest *storeRequest // replaces the round's command; nil: none
	sent         int64         // ground time
	connection   *connection   // nil: one of its own
	client       int32
	node         int32
	answer       env.Answer // 0: this is a request
	cause        cause      // of env.Failed or env.Lost
	reset        bool       // its connection was reset
	withScript   bool       // it contains the script itself, not its hash
	rejected     bool       // the node has rejected the native command, and this is its script
	copy         bool       // it duplicates a request, and the client does not know of it
	resent       uint8      // retransmissions in this direction
}

// seen returns the message as the rules of faults see it.
func (m *message) seen() nemesis.Message {
	seen := nemesis.Message{Client: int(m.client), Node: int(m.node), Way: nemesis.Requests}
	if m.answer != 0 {
		seen.Way = nemesis.Replies
	}
	switch {
	case m.storeRequest != nil:
		seen.Key = m.storeRequest.request.Key
	case m.round != nil:
		seen.Key = m.round.command.Key
	}
	return seen
}

// native reports whether it is a native command in place of a script.
func (m *message) native() bool { return m.round.command.Native && !m.rejected }

// asScript reports whether the reply makes the client's transport send the request again as a script:
// the script itself, because the node does not know its hash, or a script in place of the native command,
// because the node has answered with an error.
func (m *message) asScript() bool {
	return m.cause == noScript || m.answer == env.Failed && m.native() && (m.cause == loading || m.cause == oom || m.cause == readOnly)
}

// replyDetail is what a reply contains besides its answer.
type replyDetail struct {
	number uint64 // a counter, or a run id
	token  string
}

// setDetail stores the detail of a reply. The round keeps it while the reply is on its
// way, whether or not it arrives, because a node answers a request once. The detail of a
// reply to a copy is dropped.
func (m *message) setDetail(more replyDetail) {
	if m.copy {
		return
	}
	if m.round.details == nil {
		m.round.details = map[int]replyDetail{}
	}
	m.round.details[int(m.node)] = more
}

// detail returns the detail of the reply.
func (m *message) detail() replyDetail { return m.round.details[int(m.node)] }

// cause is why a request failed or was lost.
type cause uint8

const (
	refused cause = iota + 1
	brokenOff
	noScript
	loading
	oom
	readOnly
	notANumber
	gaveUp
	notSent
	breakerOpen
	leaderless
	deposed
)

// causes has the texts of Redis, except for full stops and parts that depend on the request.
var causes = [...]error{
	refused:     errors.New("connection refused"),
	brokenOff:   errors.New("connection reset by peer"),
	noScript:    errors.New("NOSCRIPT No matching script. Please use EVAL"),
	loading:     errors.New("LOADING Redis is loading the dataset in memory"),
	oom:         errors.New("OOM command not allowed when used memory > 'maxmemory'"),
	gaveUp:      errors.New("no answer, given up"),
	notSent:     errors.New("not sent: no connection became free in time"),
	breakerOpen: errors.New("not sent: the node answers nothing"),
	notANumber:  errors.New("ERR the key holds no number"),
	readOnly:    errors.New("READONLY You can't write against a read only replica"),
	leaderless:  env.ErrNoLeader,
	deposed:     env.ErrStoreLost,
}

// meets reports whether a server in this state answers an operation with the error,
// whatever its keys are. A read-only server, or one without memory, notices in a script
// only when the script writes; without memory it can still delete and expire.
func (c cause) meets(op env.Op) bool {
	switch op {
	case env.OpSet, env.OpVouch, env.OpPut, env.OpAdd, env.OpIncrement:
		return true
	case env.OpExpire, env.OpRemove:
		return c != oom
	}
	return c == loading
}

// size is the number of bytes that a message has in Redis' protocol, without
// the headers of TCP and IP. A refusal and a reset have none.
func size(m *message) int64 {
	if m.reset || m.cause == refused {
		return 0
	}
	c := &m.round.command
	switch {
	case m.storeRequest != nil:
		return m.storeRequest.bytes(m.answer == 0)
	case m.answer == env.Failed:
		return int64(len("-\r\n") + len(causes[m.cause].Error()))
	case m.answer == 0 && m.withScript: // EVAL in place of EVALSHA
		hashed := *m
		hashed.withScript = false
		return size(&hashed) + bulk(scriptBytes) - bulk(40) - 3
	case m.answer == 0 && c.Op == env.OpSet: // SET key token NX PX ttl
		return runIDQueries(c) + array(6) + bulk(3) + bulk(len(c.Key)) + bulk(len(c.Token)) + bulk(2) + bulk(2) + bulk(digits(c.TTL.Milliseconds()))
	case m.answer == 0 && m.native() && c.Op == env.OpExtend: // SET key token IFEQ token PX ttl
		return runIDQueries(c) + array(7) + bulk(3) + bulk(len(c.Key)) + 2*bulk(len(c.Token)) + bulk(4) + bulk(2) + bulk(digits(c.TTL.Milliseconds()))
	case m.answer == 0 && m.native(): // DELEX key IFEQ token
		return array(4) + bulk(5) + bulk(len(c.Key)) + bulk(4) + bulk(len(c.Token))
	case m.answer == 0 && c.Op == env.OpExtend: // EVALSHA sha 1 key token ttl
		return runIDQueries(c) + array(6) + bulk(7) + bulk(40) + bulk(1) + bulk(len(c.Key)) + bulk(len(c.Token)) + bulk(digits(c.TTL.Milliseconds()))
	case m.answer == 0 && c.Op == env.OpVouch: // SET note token
		return array(3) + bulk(3) + bulk(noteBytes) + bulk(runBytes)
	case m.answer == 0 && plainWords[c.Op] != "":
		return plainSize(c)
	case m.answer == 0 && c.Op == env.OpRaise: // EVALSHA sha 1 key count
		return array(5) + bulk(7) + bulk(40) + bulk(1) + bulk(len(c.Key)) + bulk(digits(int64(c.Count)))
	case m.answer == 0: // EVALSHA sha 1 key token
		return array(5) + bulk(7) + bulk(40) + bulk(1) + bulk(len(c.Key)) + bulk(len(c.Token))
	case c.Op == env.OpSet, c.Op == env.OpExtend && m.native(), c.Op == env.OpVouch, c.Op == env.OpPut, c.Op == env.OpGet && m.answer == env.No:
		return int64(len("+OK\r\n")) + runIDReplies(c) // $-1 is as long
	case c.Op == env.OpGet:
		return bulk(len(m.detail().token))
	case c.Op == env.OpCount:
		return bulk(digits(int64(m.detail().number)))
	case c.Op == env.OpIncrement:
		return int64(len(":\r\n") + digits(int64(m.detail().number)))
	case c.Op == env.OpRaise:
		return array(2) + int64(len(":1\r\n")) + bulk(digits(int64(m.detail().number)))
	}
	return int64(len(":1\r\n")) + runIDReplies(c)
}

// plainWords are the commands that consist of a word, a key, and perhaps one thing
// more.
var plainWords = [env.Ops]string{
	env.OpCount: "GET", env.OpGet: "GET", env.OpPut: "SET", env.OpAdd: "SETNX",
	env.OpExpire: "PEXPIRE", env.OpRemove: "DEL", env.OpIncrement: "INCR",
}

func plainSize(c *env.Command) int64 {
	size := bulk(len(plainWords[c.Op])) + bulk(len(c.Key))
	switch c.Op {
	case env.OpPut, env.OpAdd:
		return array(3) + size + bulk(len(c.Token))
	case env.OpExpire:
		return array(3) + size + bulk(digits(c.TTL.Milliseconds()))
	}
	return array(2) + size
}

// runIDQueries is the size of what a SET or an extension asks beside its work: INFO server, GET note.
func runIDQueries(c *env.Command) int64 {
	if c.Vouched == 0 {
		return 0
	}
	return array(2) + bulk(4) + bulk(6) + array(2) + bulk(3) + bulk(noteBytes)
}

// runIDReplies is the size of the replies to these.
func runIDReplies(c *env.Command) int64 {
	if c.Vouched == 0 {
		return 0
	}
	return bulk(infoBytes) + bulk(runBytes)
}

// About what the scripts of a lock have, the name of a note on a run, and the
// answer to INFO server of Redis 7.0; and what a run's name has.
const (
	scriptBytes = 120
	noteBytes   = 20
	infoBytes   = 500
	runBytes    = 40
)

// array is the size of the head of an array, bulk that of a string of so many
// bytes with its head.
func array(n int) int64 { return int64(len("*\r\n") + digits(int64(n))) }
func bulk(n int) int64  { return int64(len("$\r\n\r\n") + digits(int64(n)) + n) }

func digits(n int64) int { return len(strconv.FormatInt(n, 10)) }

func (m *message) digest() (d digest) {
	d.add(uint64(m.client)<<32 | uint64(m.node))
	d.add(uint64(m.answer)<<16 | uint64(m.cause)<<8 | flags(m.reset, m.withScript, m.copy, m.rejected))
	d.add(uint64(m.sent))
	if r := m.round; r != nil {
		c := &r.command
		d.add(flags(c.Native)<<40 | uint64(c.Op)<<32 | uint64(r.key))
		d.add(text(c.Token))
		d.add(uint64(c.TTL) ^ uint64(c.Vouched)<<1)
		d.add(c.Count)
		d.add(uint64(r.giveUp))
		d.add(flags(r.pending.Has(int(m.node))))
		if more, some := r.details[int(m.node)]; some {
			d.add(more.number)
			d.add(text(more.token))
		}
	}
	return d
}
