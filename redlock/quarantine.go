package redlock

import (
	"fmt"

	"github.com/lockstorm/lockstorm/env"
)

// A node that has restarted may have forgotten keys. It must not vote until every lock has expired
// that those keys stood for. The algorithm leaves it to the operator to keep the node away for
// that long; a quarantine works without the operator. Each SET also asks for the run id of the
// node, and a yes counts only if this run had been known for the quarantine when the SET was
// sent.
//
// The age of a run counts from when this client first saw it, on the clock that counts suspension;
// the uptime that Redis reports follows a wall clock. A new client has seen nothing yet. So a
// client that has watched a run for long enough leaves a note with the run id on the node.
//
// Each extension asks for the run id, too. Its yes counts only from the run in which the node's yes
// to SET counted. Another run may have forgotten a contender's key whose vote still counts, and set
// ours afterwards: the SET may have been late, or arrive a second time.

// incarnation is a run of a node's server, and when this client first saw it.
type incarnation struct {
	run   string
	first env.Instant // on env.Boottime
}

// weigher returns a function that maps replies to votes, for a SET that is about to be sent;
// nil: every reply is its vote.
func (a *attempt) weigher() func(env.Reply) env.Reply {
	if a.mutex.config.Quarantine == 0 {
		return nil
	}
	a.runs = make([]string, a.mutex.nodes.Len())
	sent := a.mutex.runtime.Now(env.Boottime)
	return func(r env.Reply) env.Reply { return a.weigh(r, sent) }
}

// weigh counts the yes of a node in quarantine as a failure, and notes the run of a yes that
// counts. The no of a node in quarantine counts, because the key exists.
func (a *attempt) weigh(r env.Reply, sent env.Instant) env.Reply {
	m := a.mutex
	if r.Answer != env.Yes && r.Answer != env.No {
		return r
	}
	age := sent.Sub(m.observeRun(r))
	old := r.Run != "" && age >= m.config.Quarantine
	if old && !r.Vouched {
		a.attest(r)
	}
	switch {
	case r.Answer == env.No:
		return r
	case old || r.Vouched:
		m.mu.Lock()
		a.runs[r.Node-1] = r.Run
		m.mu.Unlock()
		return r
	}
	return env.Reply{Node: r.Node, Answer: env.Failed, Err: fmt.Errorf("%w: its run is known for %v, not yet for %v", ErrQuarantined, max(age, 0), m.config.Quarantine)}
}

// observeRun returns when the run of a reply was first seen by this client.
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

// attest leaves a note for other clients. A lost note does no harm: it is sent again after the
// next reply.
func (a *attempt) attest(r env.Reply) {
	m := a.mutex
	note := a.send(env.SetOf(r.Node), env.Command{Op: env.OpVouch, Token: r.Run, TTL: m.config.Quarantine}, m.config.NodeTimeout)
	m.background("vouch", note.drain)
}

// weighExtension counts a yes only from the run in which the node's yes to SET counted. In another
// run the node may have set the key after it had forgotten somebody else's.
func (a *attempt) weighExtension(r env.Reply) env.Reply {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	if r.Answer != env.Yes || r.Run != "" && r.Run == a.runs[r.Node-1] {
		return r
	}
	return env.Reply{Node: r.Node, Answer: env.Failed, Err: ErrQuarantined}
}
