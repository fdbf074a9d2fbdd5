package sim

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// execute executes the command of a message.
func (w *World) execute(n *node, m *message) env.Answer {
	command := &m.round.command
	if n.failing != 0 && n.failing.meets(m.writes()) {
		return env.Failed
	}
	w.expireKeys()
	if w.executes != nil {
		w.executes(n.id, int(m.round.number))
	}
	held, exists := n.keys.get(m.round.key)
	mine := exists && held.token == command.Token
	if command.Vouched > 0 {
		m.setDetail(replyDetail{number: n.runID(command.Vouched)})
	}
	switch command.Op {
	case env.OpSet:
		return w.set(n, m, exists)
	case env.OpDelete:
		return w.erase(n, m, mine)
	case env.OpExtend:
		return w.extend(n, m, held, mine)
	case env.OpCount:
		return w.count(m, held)
	case env.OpRaise:
		return w.raise(n, m, held)
	case env.OpVouch:
		n.attest(command, w.now)
		return env.Yes
	}
	return w.executePlain(n, m, held, exists)
}

// nativeAs are the operations that a server in trouble rejects as it does native commands: SET and DEL.
var nativeAs = [env.Ops]env.Op{env.OpExtend: env.OpSet, env.OpDelete: env.OpRemove}

// writes returns the operation as which a server that cannot write treats the request.
func (m *message) writes() env.Op {
	if m.native() {
		return nativeAs[m.round.command.Op]
	}
	return m.round.command.Op
}

func (w *World) set(n *node, m *message, exists bool) env.Answer {
	command := &m.round.command
	if exists {
		return env.No
	}
	w.create(n, m, n.expiry(w.now, command.TTL))
	return env.Yes
}

// create creates a lock's key as requested by the message.
func (w *World) create(n *node, m *message, expiry int64) {
	command := &m.round.command
	created := key{token: command.Token, expiry: expiry}
	w.put(n, m.round.key, created)
	set := history.Event{Kind: history.KeySet, Node: n.id, Resource: command.Key, Token: command.Token, Client: int(m.client), Sent: history.Time(m.sent), Ends: n.ends(created), Fault: w.injector.Cause()}
	if expiry == unending {
		set.Detail = history.NoExpiry
	}
	w.Record(set)
}

func (w *World) erase(n *node, m *message, mine bool) env.Answer {
	switch command := &m.round.command; {
	case !mine:
		return env.No
	case n.failing == readOnly:
		return env.Failed
	default:
		w.forget(n, m.round.key, history.Event{Token: command.Token, Reason: history.Deleted, Client: int(m.client)})
		return env.Yes
	}
}

func (w *World) extend(n *node, m *message, held key, mine bool) env.Answer {
	command := &m.round.command
	if !mine {
		return env.No
	}
	if expiry := n.expiry(w.now, command.TTL); held.expiry < expiry || m.native() {
		if n.failing == readOnly {
			return env.Failed
		}
		held.expiry = expiry
		w.put(n, m.round.key, held)
	}
	w.injector.Record(history.Event{Kind: history.KeyExtended, Node: n.id, Resource: command.Key, Token: command.Token, Client: int(m.client), Ends: n.ends(held)})
	return env.Yes
}

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
		w.injector.Record(history.Event{Kind: history.KeyExtended, Node: n.id, Resource: command.Key, Token: held.token, Client: int(m.client), Ends: n.ends(held)})
	}
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

// A SET or an extension can ask in which run of the server it was processed, and whether a client
// has attested to that run. The answer travels as one number: twice the run, plus
// one if the run is attested.

func (n *node) runID(watched time.Duration) uint64 {
	number := 2 * n.run
	if n.attested[watched].run == n.run {
		number++
	}
	return number
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
