package sim

import (
	"math/bits"
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// bandwidth is that of one lane. Messages leave over it one after another.
type bandwidth struct {
	perSecond int64    // bytes
	line      []queued // the first is leaving
}

// queued is a message that waits to leave, and what happens when it arrives.
type queued struct {
	message int32
	arrival class
}

// takes is how long a message of so many bytes takes to leave, rounded up.
func (b *bandwidth) takes(bytes int64) int64 {
	high, low := bits.Mul64(uint64(bytes), uint64(time.Second))
	low, carry := bits.Add64(low, uint64(b.perSecond)-1, 0)
	takes, _ := bits.Div64(high+carry, low, uint64(b.perSecond))
	return int64(takes)
}

// queueUp puts a message at the end of those that wait to leave over a lane.
func (w *World) queueUp(i int32, l *lane, arrival class) {
	b := l.narrow
	b.line = append(b.line, queued{i, arrival})
	if len(b.line) == 1 {
		w.squeeze(l, b)
	}
}

// squeeze lets the first message of a line leave in its time, unless the lane
// has become wide meanwhile.
func (w *World) squeeze(l *lane, b *bandwidth) {
	takes := b.takes(size(w.network.messages.at(b.line[0].message)))
	w.later(w.now+takes, func() {
		if l.narrow != b {
			return
		}
		first := b.line[0]
		b.line = b.line[1:]
		w.leave(first.message, l, first.arrival)
		if len(b.line) > 0 {
			w.squeeze(l, b)
		}
	})
}

// widen makes a lane wide again. What waited leaves at once.
func (w *World) widen(l *lane) {
	line := l.narrow.line
	l.narrow = nil
	for _, q := range line {
		w.leave(q.message, l, q.arrival)
	}
}

// size is the number of bytes that a message has in Redis' protocol, without
// the headers of TCP and IP. A refusal and a reset have none.
func size(m *message) int64 {
	if m.reset || m.cause == refused {
		return 0
	}
	c := &m.round.command
	switch {
	case m.question != nil:
		return m.question.bytes(m.answer == 0)
	case m.answer == env.Failed:
		return int64(len("-\r\n") + len(causes[m.cause].Error()))
	case m.answer == 0 && m.whole: // EVAL in place of EVALSHA
		hashed := *m
		hashed.whole = false
		return size(&hashed) + bulk(scriptBytes) - bulk(40) - 3
	case m.answer == 0 && c.Op == env.OpSet: // SET key token NX PX ttl
		return questions(c) + array(6) + bulk(3) + bulk(len(c.Key)) + bulk(len(c.Token)) + bulk(2) + bulk(2) + bulk(digits(c.TTL.Milliseconds()))
	case m.answer == 0 && c.Op == env.OpExtend: // EVALSHA sha 1 key token ttl
		return array(6) + bulk(7) + bulk(40) + bulk(1) + bulk(len(c.Key)) + bulk(len(c.Token)) + bulk(digits(c.TTL.Milliseconds()))
	case m.answer == 0 && c.Op == env.OpCount: // GET key
		return array(2) + bulk(3) + bulk(len(c.Key))
	case m.answer == 0 && c.Op == env.OpVouch: // SET note token
		return array(3) + bulk(3) + bulk(noteBytes) + bulk(runBytes)
	case m.answer == 0 && c.Op == env.OpRaise: // EVALSHA sha 1 key count
		return array(5) + bulk(7) + bulk(40) + bulk(1) + bulk(len(c.Key)) + bulk(digits(int64(c.Count)))
	case m.answer == 0: // EVALSHA sha 1 key token
		return array(5) + bulk(7) + bulk(40) + bulk(1) + bulk(len(c.Key)) + bulk(len(c.Token))
	case c.Op == env.OpSet && c.Vouched > 0:
		return int64(len("+OK\r\n")) + bulk(infoBytes) + bulk(runBytes)
	case c.Op == env.OpSet, c.Op == env.OpVouch:
		return int64(len("+OK\r\n")) // $-1 is as long
	case c.Op == env.OpCount:
		return bulk(digits(int64(m.number)))
	case c.Op == env.OpRaise:
		return array(2) + int64(len(":1\r\n")) + bulk(digits(int64(m.number)))
	}
	return int64(len(":1\r\n"))
}

// questions is what a SET asks beside its work: INFO server, GET note.
func questions(c *env.Command) int64 {
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
