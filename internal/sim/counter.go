package sim

import (
	"strconv"

	"github.com/lockstorm/lockstorm/env"
)

// A counter is a key whose value is a number in digits, as in Redis. So it is
// lost, and comes back, with the node's other keys. The history, which has keys of
// locks, does not tell of it.

// isLock reports whether there is a key, and it is no counter.
func (k key) isLock() bool { return k.token != "" && !k.counter }

// count is the value of a counter, 0 if there is none.
func (k key) count() uint64 {
	n, _ := strconv.ParseUint(k.token, 10, 64) // put writes digits only
	return n
}

func (w *World) count(m *message, held key) env.Answer {
	if held.isLock() {
		m.cause = notANumber
		return env.Failed
	}
	m.setDetail(replyDetail{number: held.count()})
	return env.Yes
}

func (w *World) raise(n *node, m *message, held key) env.Answer {
	to := m.round.command.Count
	if held.isLock() {
		m.cause = notANumber
		return env.Failed
	}
	if now := held.count(); now >= to {
		m.setDetail(replyDetail{number: now})
		return env.No
	}
	if n.failing == readOnly || n.failing == oom {
		return env.Failed
	}
	m.setDetail(replyDetail{number: to})
	w.put(n, m.round.command.Key, counter(to, unending))
	return env.Yes
}

func (w *World) increment(n *node, m *message, held key, exists bool) env.Answer {
	if held.isLock() {
		m.cause = notANumber
		return env.Failed
	}
	expiry := unending
	if exists {
		expiry = held.expiry
	}
	next := held.count() + 1
	m.setDetail(replyDetail{number: next})
	w.put(n, m.round.command.Key, counter(next, expiry))
	return env.Yes
}

func counter(n uint64, expiry int64) key {
	return key{token: strconv.FormatUint(n, 10), expiry: expiry, counter: true}
}
