package sim

import (
	"math"
	"strconv"

	"github.com/lockstorm/lockstorm/env"
)

// A counter is a key whose value is a number in digits, as in Redis, and which
// has no time to live. So it is lost, and comes back, with the node's other keys.

// unending is the expiry of a key without a time to live.
const unending int64 = math.MaxInt64

// isLock reports whether there is a key, and it is no counter.
func (k key) isLock() bool { return k.token != "" && k.volatile() }

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
	m.number = held.count()
	return env.Yes
}

func (w *World) raise(n *node, m *message, held key) env.Answer {
	to := m.round.command.Count
	if held.isLock() {
		m.cause = notANumber
		return env.Failed
	}
	if m.number = held.count(); m.number >= to {
		return env.No
	}
	if n.failing == readOnly || n.failing == oom {
		return env.Failed
	}
	m.number = to
	w.put(n, m.round.command.Key, key{token: strconv.FormatUint(to, 10), expiry: unending})
	return env.Yes
}
