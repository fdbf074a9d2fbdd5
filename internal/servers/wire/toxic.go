package wire

import (
	"slices"
	"strings"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"

	"github.com/lockstorm/lockstorm/internal/servers/resp"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// faultToxic is the toxic that applies a [Direction]'s faults to the connections of a
// proxy. It ignores interrupts: it is installed before the first connection and never
// removed.
type faultToxic struct{ direction *Direction }

// message is a chunk of a connection's bytes or, without a chunk, the end of the
// connection.
type message struct {
	chunk  *stream.StreamChunk
	seen   nemesis.Message // what rules may know about it, if parsed
	parsed bool
	due    time.Time // the earliest time at which it may pass
	leaves time.Time // when it has left, while the bandwidth is limited
	resets bool      // it resets the connection
}

// wait returns how long the message still has to wait.
func (m message) wait(g directionFaults) time.Duration {
	due := m.due
	if g.perSecond > 0 && due.Before(m.leaves) {
		due = m.leaves
	}
	return time.Until(due)
}

// Pipe forwards one direction of one connection.
func (t *faultToxic) Pipe(stub *toxics.ToxicStub) {
	defer stub.Close()
	in := stub.Input
	var queue []message
	for {
		g, changed := t.direction.now()
		if len(queue) > 0 && queue[0].chunk != nil && (g.resets || queue[0].resets) {
			stub.Close()
			drain(in)
			return
		}
		var out chan<- *stream.StreamChunk
		var head *stream.StreamChunk
		var due <-chan time.Time
		if len(queue) > 0 && !t.held(g.rules, &queue[0]) {
			switch wait := queue[0].wait(g); {
			case wait > 0:
				due = time.After(wait)
			case queue[0].chunk == nil:
				return
			default:
				head, out = queue[0].chunk, stub.Output
			}
		}
		select {
		case chunk := <-in:
			queue = append(queue, t.message(chunk).after(queue))
			if chunk == nil {
				in = nil
			}
		case out <- head:
			queue = queue[1:]
			t.copy(head, g.copies)
		case <-due:
		case <-changed:
		case <-t.direction.link.network.closed:
			drain(in)
			return
		}
	}
}

// message makes a message of a chunk, or of the end. It reads the faults anew: one that was imposed
// before the chunk was written may have come while Pipe was on its way to the next chunk.
func (t *faultToxic) message(chunk *stream.StreamChunk) message {
	g, _ := t.direction.now()
	m := message{chunk: chunk}
	m.due = time.Now().Add(t.delay(g.rules, &m))
	if chunk != nil && g.perSecond > 0 {
		m.leaves = t.direction.sentBy(len(chunk.Data))
	}
	m.resets = chunk != nil && g.resetNext != nil && t.direction.takeReset()
	return m
}

// delay and held apply the rules. Without rules the bytes need not be parsed.
func (t *faultToxic) delay(rules world.Rules, m *message) time.Duration {
	if len(rules) == 0 {
		return 0
	}
	return rules.Delay(t.seen(m))
}

func (t *faultToxic) held(rules world.Rules, m *message) bool {
	if len(rules) == 0 {
		return false
	}
	held, _ := rules.Holds(t.seen(m))
	return held
}

// copy sends a chunk that has just passed once more, after what delay returns, if a fault duplicated
// requests when the chunk was let pass (delay is not nil). The fault may have ended by now, since
// whoever receives the chunk may act before this goroutine does.
func (t *faultToxic) copy(chunk *stream.StreamChunk, delay func() time.Duration) {
	if delay == nil || !wholeCommands(chunk.Data) {
		return
	}
	piece, after := slices.Clone(chunk.Data), delay()
	l := t.direction.link
	l.network.running.Go(func() { l.copy(piece, chunk.Timestamp, after) })
}

// seen returns what rules may know about a message. The key is missing for replies, since
// they do not say which request they answer.
func (t *faultToxic) seen(m *message) nemesis.Message {
	if !m.parsed {
		m.parsed, m.seen = true, t.direction.base
		if m.chunk != nil && m.seen.Way == nemesis.Requests {
			m.seen.Key = keyOf(m.chunk.Data)
		}
	}
	return m.seen
}

// after makes the message due no earlier than those before it.
func (m message) after(queue []message) message {
	if n := len(queue); n > 0 && m.due.Before(queue[n-1].due) {
		m.due = queue[n-1].due
	}
	return m
}

// drain reads the rest of the input, so that its sender can end.
func drain(in <-chan *stream.StreamChunk) {
	if in == nil {
		return
	}
	for range in {
	}
}

// keyAt is the position of the key in a lock's commands, counted from the name of the
// command.
var keyAt = map[string]int{
	"SET": 1, "SETNX": 1, "GET": 1, "DEL": 1, "DELEX": 1, "DELIFEQ": 1, "INCR": 1, "PTTL": 1, "PEXPIRE": 1,
	"EVAL": 3, "EVALSHA": 3,
}

// keyOf returns the key of the first command in a client's message that has one, or "". It
// only knows messages that begin with a command.
func keyOf(piece []byte) string {
	for {
		words, rest, ok := resp.Command(piece)
		if !ok {
			return ""
		}
		if at := keyAt[strings.ToUpper(words[0])]; at > 0 && at < len(words) {
			return words[at]
		}
		piece = rest
	}
}

// wholeCommands reports whether a message consists of complete commands. Others are not
// copied.
func wholeCommands(piece []byte) bool {
	for len(piece) > 0 {
		_, rest, ok := resp.Command(piece)
		if !ok {
			return false
		}
		piece = rest
	}
	return true
}
