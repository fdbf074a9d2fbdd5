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

// count is the value of a counter, 0 if there is none. Whoever names a lock like
// a counter counts nothing.
func (k key) count() uint64 {
	if k.volatile() {
		return 0
	}
	n, _ := strconv.ParseUint(k.token, 10, 64) // put writes digits only
	return n
}

func (w *World) raise(n *node, m *message, held key) env.Answer {
	to := m.round.command.Count
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
