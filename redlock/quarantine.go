package redlock

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// A node that has restarted may have forgotten keys, and must not help anybody
// to a quorum before every lock has run out that those keys stood for. The
// algorithm leaves it to whoever runs the node to keep it away for that long; a
// quarantine holds even if nobody thinks of it. It asks, with each SET, in which
// run of the node that was carried out, and counts a yes only if the run had been
// known for the quarantine when the SET was sent: so it had been going on for
// at least that long when the SET came.
//
// The age counts from when this client first saw the run, on the clock that
// counts suspension: what Redis tells of its uptime follows a wall clock. A
// client that has just started has seen nothing yet, so clients tell each other:
// who has watched a run for long enough leaves a note on the node, which names the
// run and so says nothing of the next.
//
// A yes to an extension counts only from a node whose yes to SET did. Another one
// can have forgotten the vote of a contender who is still counting, and have let us
// set our key there after it.

// incarnation is the run of a node, and since when it is known.
type incarnation struct {
	run   string
	first env.Instant // on env.Boottime
}

func (c Config) validateQuarantine() error {
	switch q := c.Quarantine; {
	case q < 0 || q%time.Millisecond != 0:
		return fmt.Errorf("%w: quarantine %v: want whole milliseconds, at least 0", ErrConfig, q)
	case q > 0 && q < c.TTL:
		return fmt.Errorf("%w: quarantine %v: want at least the longest TTL of any client, and this one's is %v", ErrConfig, q, c.TTL)
	}
	return nil
}

// voteCounter returns what the replies to a SET count as that is about to be sent.
func (m *Mutex) voteCounter() func(env.Reply) env.Reply {
	if m.config.Quarantine == 0 {
		return func(r env.Reply) env.Reply { return r }
	}
	sent := m.runtime.Now(env.Boottime)
	return func(r env.Reply) env.Reply { return m.weigh(r, sent) }
}

// weigh lets the yes of a node in quarantine count as a failure. Its no counts:
// the key is there.
func (m *Mutex) weigh(r env.Reply, sent env.Instant) env.Reply {
	if r.Answer != env.Yes && r.Answer != env.No {
		return r
	}
	age := sent.Sub(m.observeRun(r))
	old := r.Run != "" && age >= m.config.Quarantine
	if old && !r.Vouched {
		m.attest(r)
	}
	if r.Answer == env.No || old || r.Vouched {
		return r
	}
	return env.Reply{Node: r.Node, Answer: env.Failed, Err: fmt.Errorf("%w: its run is known for %v, not yet for %v", ErrQuarantined, max(age, 0), m.config.Quarantine)}
}

// observeRun returns when the run of a reply was first seen.
func (m *Mutex) observeRun(r env.Reply) env.Instant {
	now := m.runtime.Now(env.Boottime)
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.incarnations[r.Node-1]
	if s.run != r.Run {
		*s = incarnation{run: r.Run, first: now}
	}
	return s.first
}

// attest leaves a note for other clients. It is not missed if it gets lost: the
// next reply from the node tells.
func (m *Mutex) attest(r env.Reply) {
	note := m.send(env.SetOf(r.Node), env.Command{Op: env.OpVouch, Token: r.Run, TTL: m.config.Quarantine}, m.config.NodeTimeout)
	m.background("vouch", nil, func() { note.drain(nil) })
}
