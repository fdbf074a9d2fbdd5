package sim

import (
	"strconv"

	"github.com/lockstorm/lockstorm/env"
)

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
	case m.answer == 0 && c.Op == env.OpExtend: // EVALSHA sha 1 key token ttl
		return array(6) + bulk(7) + bulk(40) + bulk(1) + bulk(len(c.Key)) + bulk(len(c.Token)) + bulk(digits(c.TTL.Milliseconds()))
	case m.answer == 0 && c.Op == env.OpVouch: // SET note token
		return array(3) + bulk(3) + bulk(noteBytes) + bulk(runBytes)
	case m.answer == 0 && plainWords[c.Op] != "":
		return plainSize(c)
	case m.answer == 0 && c.Op == env.OpRaise: // EVALSHA sha 1 key count
		return array(5) + bulk(7) + bulk(40) + bulk(1) + bulk(len(c.Key)) + bulk(digits(int64(c.Count)))
	case m.answer == 0: // EVALSHA sha 1 key token
		return array(5) + bulk(7) + bulk(40) + bulk(1) + bulk(len(c.Key)) + bulk(len(c.Token))
	case c.Op == env.OpSet && c.Vouched > 0:
		return int64(len("+OK\r\n")) + bulk(infoBytes) + bulk(runBytes)
	case c.Op == env.OpSet, c.Op == env.OpVouch, c.Op == env.OpPut, c.Op == env.OpGet && m.answer == env.No:
		return int64(len("+OK\r\n")) // $-1 is as long
	case c.Op == env.OpGet:
		return bulk(len(m.detail().token))
	case c.Op == env.OpCount:
		return bulk(digits(int64(m.detail().number)))
	case c.Op == env.OpIncrement:
		return int64(len(":\r\n") + digits(int64(m.detail().number)))
	case c.Op == env.OpRaise:
		return array(2) + int64(len(":1\r\n")) + bulk(digits(int64(m.detail().number)))
	}
	return int64(len(":1\r\n"))
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

// runIDQueries is the size of what a SET asks beside its work: INFO server, GET note.
func runIDQueries(c *env.Command) int64 {
	if c.Vouched == 0 {
		return 0
	}
	return array(2) + bulk(4) + bulk(6) + array(2) + bulk(3) + bulk(noteBytes)
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
