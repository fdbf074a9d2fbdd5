package wire

import (
	"slices"
	"strings"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// valve is the toxic that does to one direction of a proxy's connections what
// the rules of the direction's way say. It heeds no interruption, for it is in place before
// the first connection and is never removed.
type valve struct{ way *Way }

// message is a piece of a connection's bytes, or, without a chunk, its end.
type message struct {
	chunk  *stream.StreamChunk
	due    time.Time // the earliest time at which it may pass
	leaves time.Time // the same while the way is narrow
}

// wait is how long it has still to wait.
func (m message) wait(g regime) time.Duration {
	due := m.due
	if g.perSecond > 0 && due.Before(m.leaves) {
		due = m.leaves
	}
	return time.Until(due)
}

// Pipe carries one connection, one way.
func (v *valve) Pipe(stub *toxics.ToxicStub) {
	defer stub.Close()
	in := stub.Input
	var queue []message
	for {
		g, changed := v.way.now()
		if g.resets && len(queue) > 0 && queue[0].chunk != nil {
			stub.Close()
			drain(in)
			return
		}
		var out chan<- *stream.StreamChunk
		var head *stream.StreamChunk
		var due <-chan time.Time
		if len(queue) > 0 && !v.held(g.rules, queue[0].chunk) {
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
			queue = append(queue, v.message(g, chunk).after(queue))
			if chunk == nil {
				in = nil
			}
		case out <- head:
			queue = queue[1:]
			v.copy(g, head)
		case <-due:
		case <-changed:
		case <-v.way.closed:
			drain(in)
			return
		}
	}
}

// message is a piece of bytes that has come, or the end.
func (v *valve) message(g regime, chunk *stream.StreamChunk) message {
	m := message{chunk: chunk, due: time.Now().Add(v.delay(g.rules, chunk))}
	if chunk != nil && g.perSecond > 0 {
		m.leaves = v.way.leaves(len(chunk.Data))
	}
	return m
}

// delay and held ask the rules, if there are any: without a fault nobody needs to know
// what the bytes say.
func (v *valve) delay(rules world.Rules, chunk *stream.StreamChunk) time.Duration {
	if len(rules) == 0 {
		return 0
	}
	return rules.Delay(v.seen(chunk))
}

func (v *valve) held(rules world.Rules, chunk *stream.StreamChunk) bool {
	if len(rules) == 0 {
		return false
	}
	held, _ := rules.Holds(v.seen(chunk))
	return held
}

// copy has a piece that has just passed sent once more, if a fault asks for that.
func (v *valve) copy(g regime, chunk *stream.StreamChunk) {
	if g.copies != nil && v.way.copier != nil && whole(chunk.Data) {
		v.way.copier.send(slices.Clone(chunk.Data), chunk.Timestamp, g.copies())
	}
}

// seen is what the rules are told of a piece of bytes. Of a reply that is not the
// key: which request it answers only Redis and its client know. Nor of a request that is
// encrypted; no fault that there is asks for it.
func (v *valve) seen(chunk *stream.StreamChunk) nemesis.Message {
	seen := v.way.place
	if chunk != nil && seen.Way == nemesis.Requests {
		seen.Key = strings.TrimPrefix(keyOf(chunk.Data), v.way.prefix)
	}
	return seen
}

// after makes the message due no earlier than those before it.
func (m message) after(queue []message) message {
	if n := len(queue); n > 0 && m.due.Before(queue[n-1].due) {
		m.due = queue[n-1].due
	}
	return m
}

// drain takes what still comes, so that whoever sends it can end.
func drain(in <-chan *stream.StreamChunk) {
	if in == nil {
		return
	}
	for range in {
	}
}
