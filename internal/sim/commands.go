package sim

import (
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// executePlain executes commands that ignore the token of the key.
func (w *World) executePlain(n *node, m *message, held key, exists bool) env.Answer {
	switch op := m.round.command.Op; {
	case op == env.OpGet && exists:
		m.setDetail(replyDetail{token: held.token})
	case op == env.OpPut:
		w.overwrite(n, m, held, exists)
	case op == env.OpIncrement:
		return w.increment(n, m, held, exists)
	case op == env.OpAdd && !exists:
		w.create(n, m, unending)
	case op == env.OpExpire && exists:
		w.expireIn(n, m, held)
	case op == env.OpRemove && exists:
		w.forget(n, m.round.key, history.Event{Token: held.token, Reason: history.Deleted, Client: int(m.client)})
	default:
		return env.No
	}
	return env.Yes
}

// overwrite is one change, but two events of the history.
func (w *World) overwrite(n *node, m *message, held key, exists bool) {
	if exists && !held.counter {
		w.injector.Record(history.Event{
			Kind: history.KeyGone, Node: n.id, Resource: m.round.command.Key, Token: held.token,
			Reason: history.Overwritten, Client: int(m.client),
		})
	}
	w.create(n, m, unending)
}

// expireIn sets the TTL of a key.
func (w *World) expireIn(n *node, m *message, held key) {
	command := &m.round.command
	held.expiry = n.expiry(w.now, command.TTL)
	w.put(n, m.round.key, held)
	if !held.counter {
		w.injector.Record(history.Event{Kind: history.KeyExtended, Node: n.id, Resource: command.Key, Token: held.token, Client: int(m.client)})
	}
}

// A counter is a key whose value is a number in digits, as in Redis. So it is
// lost, and comes back, with the node's other keys. The history, which has keys of
// locks, does not tell of it.

// isLock reports whether the key exists and is not a counter.
func (k key) isLock() bool { return k.token != "" && !k.counter }

// count returns the value of a counter, or 0 if there is none.
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
	w.put(n, m.round.key, counter(to, unending))
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
	w.put(n, m.round.key, counter(next, expiry))
	return env.Yes
}

func counter(n uint64, expiry int64) key {
	return key{token: strconv.FormatUint(n, 10), expiry: expiry, counter: true}
}

// A SET can ask in which run of the server it was processed, and whether a client
// has attested to that run. The answer travels as one number: twice the run, plus
// one if the run is attested.

func (n *node) runID(watched time.Duration) uint64 {
	number := 2 * n.run
	if n.attested[watched].run == n.run {
		number++
	}
	return number
}

// setRunID decodes that number into a reply.
func setRunID(r *env.Reply, number uint64) {
	r.Run, r.Vouched = runName(number/2), number%2 == 1
}

// runName returns a name in place of the run id that Redis draws at each start of a
// server.
func runName(run uint64) string { return "run " + strconv.FormatUint(run, 10) }

// attestation records which run a client has watched, and when it said so.
type attestation struct {
	run uint64
	at  int64 // ground time
}

// attest records that a client has watched the node's current run. Attestations of other
// runs are dropped.
func (n *node) attest(command *env.Command, now int64) {
	if command.Token != runName(n.run) {
		return
	}
	if n.attested == nil {
		n.attested = map[time.Duration]attestation{}
	}
	n.attested[command.TTL] = attestation{n.run, now}
	n.dirty = true
}
